// Writes the documents for what reads no JavaScript: target/api/openapi.json and events.json.

import { openapi } from './document.js';
import { events } from './events.js';
import { write } from './files.js';

write('openapi.json', openapi());
write('events.json', events());

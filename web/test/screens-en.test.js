import { everyScreen } from './every-screen.js';

everyScreen('en');

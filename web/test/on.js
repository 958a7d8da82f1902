// Which tests run where. A real system (SHOP_URL) takes several times as long, so it has the tests that need page and system
// together. What looks at the page alone, or answers the page's requests itself, is for the stand-in.

import { describe as describeAny, test as testAny } from 'vitest';

const REAL = Boolean(process.env.SHOP_URL);

/** Tests of the page and the system together. */
export const test = testAny.skipIf(!REAL);

/** Tests that need the stand-in, or for which it is enough. */
export const onStandIn = { test: testAny.skipIf(REAL), describe: describeAny.skipIf(REAL) };

/** Tests that check something more on the stand-in, and one of most areas, so that it still does what the real system does.
 * What operators do is tried on the real system, by sale-day.test.js. */
export const onBoth = { test: testAny };

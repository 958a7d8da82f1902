// Which tests run where. The tests on a real system (SHOP_URL) leave out what only the stand-in can do. `make test` has both, so
// there (STAND_IN_ONLY) the stand-in leaves out what the real system shows, except for a test of each area.

import { describe as describeAny, test as testAny } from 'vitest';

const REAL = Boolean(process.env.SHOP_URL);
const STAND_IN_ONLY = !REAL && Boolean(process.env.STAND_IN_ONLY);

export const test = STAND_IN_ONLY ? testAny.skip : testAny;
export const describe = STAND_IN_ONLY ? describeAny.skip : describeAny;

/** Tests that need the stand-in. */
export const onStandIn = { test: testAny.skipIf(REAL), describe: describeAny.skipIf(REAL) };

/** Tests that check something more on the stand-in, and one of each area, so that it still does what the real system does. */
export const onBoth = { test: testAny };

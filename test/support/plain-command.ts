import { createCommandWriter } from '../../src/base/shell.js';

/** Commands as they are written where the program is on the search path and the configuration has its usual name. */
export const command = createCommandWriter('hotel-review', 'hotel-review.yaml');

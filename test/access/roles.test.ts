import { describe, expect, it } from 'vitest';
import { may, permissions, roles } from '../../src/storage/access/roles.js';

describe('may', () => {
  it.each([
    ['viewer', ['look']],
    ['team', ['look', 'see-bookings', 'see-names', 'work-cases']],
    ['operator', ['look', 'see-bookings', 'operate']],
    ['admin', ['look', 'see-bookings', 'see-names', 'work-cases', 'operate', 'see-audit']],
  ] as const)('lets a %s do only what its role says', (role, granted) => {
    expect(permissions.filter((permission) => may(role, permission))).toEqual(granted);
  });

  it('is tested above with every role', () => {
    expect(roles).toEqual(['viewer', 'team', 'operator', 'admin']);
  });
});

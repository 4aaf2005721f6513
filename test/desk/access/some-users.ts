import { createUsers, type Users } from '../../../src/storage/access/users-file.js';

/** The password of everybody here. */
export const password = 'four random words here';
/** Its hash, with the lowest parameters that are accepted. */
export const passwordHash =
  '$scrypt$ln=14,r=1,p=1$Ud02v2Igy/A68De8fLp5XA$I2zJefymIlr3E2bZMCM9DlZ+/ulYhCBi/L0f5A9h8Bo';

/** One user of each role, and one who signs in elsewhere. */
export function someUsers(): Users {
  return {
    ...createUsers(),
    users: [
      { name: 'ada', role: 'admin', password: passwordHash },
      { name: 'oskar', role: 'operator', password: passwordHash },
      { name: 'sso@example.com', role: 'team' },
      { name: 'tina', role: 'team', password: passwordHash },
      { name: 'vera', role: 'viewer', password: passwordHash },
    ],
  };
}

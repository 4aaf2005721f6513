/** The credentials. They protect nothing, and are printed and written to files. */
export const account = {
  /** The prefix of export file names. */
  name: 'sandbox',
  apiKey: 'sandbox-key',
  accountId: 'sandbox-account',
  email: 'mappings@agency.example',
  login: { username: 'sandbox', password: 'sandbox-password' },
} as const;

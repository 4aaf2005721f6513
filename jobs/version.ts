import packageJson from '../package.json' with { type: 'json' };

/** This program's version, as its package says. */
export const version: string = packageJson.version;

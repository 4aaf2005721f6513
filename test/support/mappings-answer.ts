import type { StandInAnswer } from './http-stand-in.js';

/** The only page of Get Mappings, with these mappings. */
export const mappingsAnswer = (mappings: readonly object[]): StandInAnswer => ({
  kind: 'json',
  headers: { date: new Date().toUTCString() },
  body: {
    ResumeKey: null,
    Mappings: mappings.map((mapping) => ({ Type: 'New', ChannelIds: [], ...mapping })),
    ...{ Status: true, Message: 'Success', StatusCode: 2000 },
  },
});

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a configuration names variables of the environment so
import { describe, expect, it } from 'vitest';
import { type UnavailablePart, unavailableParts } from '../../src/config/unavailable.js';
import { complainOf, parse, sftp } from './writing.js';

/** What a person is told in this version. */
const complain = (settings: object, env: NodeJS.ProcessEnv = {}, parts = unavailableParts) =>
  complainOf(() => parse({ ...settings }, env, parts)).problems;

describe('parts that are not built yet', () => {
  it('are told as any wrong value is, together with all that is wrong', () => {
    expect(
      complain({
        timezone: 'Mars/Olympus',
        archive: 's3://bucket?secretAccessKey=hush',
        guestNameDays: 900,
      }),
    ).toEqual([
      'timezone: expected a time zone such as Europe/Madrid, got: Mars/Olympus',
      'recordDays: must be at least guestNameDays, which is 900; it is 800',
      'archive: expected a folder (s3:// is not available in this version), got: s3://…',
    ]);
  });

  it('are told where nothing else is wrong', () => {
    expect(complain({ archive: 's3://bucket/review' })).toEqual([
      'archive: expected a folder (s3:// is not available in this version), got: s3://…',
    ]);
  });

  it('show nothing that came from the environment', () => {
    expect(complain({ archive: '${WHERE}' }, { WHERE: 's3://bucket?secretAccessKey=hush' })).toEqual([
      'archive: expected a folder (s3:// is not available in this version), got: a text from the environment',
    ]);
  });

  it('are no news where a variable is missing', () => {
    expect(complain({ archive: 's3://bucket?secretAccessKey=${PASSWORD}' })).toEqual([
      'archive: expected a value in the environment variable PASSWORD, got: nothing',
    ]);
  });

  it('are none by default', () => {
    expect(complain({})).toEqual([]);
  });
});

describe('a part that needs other settings', () => {
  const fileDelivery: UnavailablePart = {
    setting: 'delivery',
    form: 'file',
    available: 'body',
    isMeantBy: (text) => text === 'file',
  };

  it('asks for none of them while it is not built', () => {
    expect(complain({ delivery: 'file' }, {}, [fileDelivery])).toEqual([
      'delivery: expected body (file is not available in this version), got: file',
    ]);
  });

  it('hides no other mistake in them', () => {
    expect(
      complain({ delivery: 'file', file: { sftp: 'here', incomplete: 'drop' } }, {}, [fileDelivery]),
    ).toEqual([
      expect.stringMatching(/^file\.sftp: expected a group with host/),
      'file.incomplete: expected post or reject, got: drop',
      'delivery: expected body (file is not available in this version), got: file',
    ]);
  });

  it('asks for them as soon as it is not listed any more', () => {
    expect(complain({ delivery: 'file' }, {}, [])).toEqual([expect.stringMatching(/^file\.sftp: expected/)]);
    expect(complain({ delivery: 'file', file: { sftp } }, {}, [])).toEqual([]);
  });
});

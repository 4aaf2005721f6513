// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
import { describe, expect, it } from 'vitest';
import { complain, parse } from './writing.js';

const url = 'https://pms.example.com/bookings?day={day}';
const inHttp = (settings: object) => ({ source: { kind: 'http', url, ...settings } });

describe('an HTTP source', () => {
  it('requires only its address', () => {
    expect(parse(inHttp({})).source).toEqual({
      kind: 'http',
      url,
      records: '',
      pagination: { kind: 'none' },
      columns: {},
      dateFormat: 'yyyy-MM-dd',
      instants: 'auto',
      where: {},
      keep: {},
      maxRepeatedShare: 0.5,
      missing: [],
      timeoutSeconds: 60,
    });
  });

  it.each([
    [{ kind: 'page', parameter: 'page' }],
    [{ kind: 'offset', parameter: 'skip' }],
    [{ kind: 'cursor', parameter: 'after', field: 'meta.next' }],
    [{ kind: 'cursor', field: '@odata.nextLink' }],
    [{ kind: 'link' }],
  ])('accepts the pagination %j', (pagination) => {
    expect(parse(inHttp({ pagination })).source).toMatchObject({ pagination });
  });

  it.each([
    [{ url: 'http://pms.example.com/{day}' }, 'source.url: must begin with https://'],
    [
      { url: 'https://pms.example.com/{dai}?key=canary' },
      'source.url: has an unknown placeholder; known are {day}',
    ],
    [{ url: 'https://pms.example.com/?key=canary' }, 'source.url: names no day'],
    [
      { headers: { 'X Key': 'canary' } },
      'source.headers["X Key"]: expected the name of a header that can be set',
    ],
    [{ headers: { Host: 'canary' } }, 'source.headers.Host: expected the name of a header that can be set'],
    [{ headers: { 'X-Key': ' canary' } }, 'source.headers.X-Key: expected a text of ASCII characters'],
    [
      { headers: { Authorization: 'canary\n' } },
      'source.headers.Authorization: expected a text of ASCII characters',
    ],
    [
      { pagination: { kind: 'pages' } },
      'source.pagination.kind: expected none or page or offset or cursor or link',
    ],
    [
      { pagination: { kind: 'page', parameter: 'day' } },
      "source: The source's url has the parameter day already",
    ],
    [{ path: 'x.csv' }, 'source.path: unknown setting where kind is http'],
  ])('with %j is refused, and no secret is shown', (settings, words) => {
    const complaints = complain(inHttp(settings));
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toContain(words);
    expect(complaints[0]).not.toContain('canary');
  });

  it('takes secrets from the environment; others are reported as literal', () => {
    const secrets = {
      url: 'https://pms.example.com/{day}?apiToken=abc',
      headers: { 'X-Key': 'abc' },
    };
    expect(parse(inHttp(secrets)).literalSecrets).toEqual(
      expect.arrayContaining(['source.url', 'source.headers.X-Key']),
    );
    const { literalSecrets } = parse(inHttp({ headers: { Authorization: 'Bearer ${TOKEN}' } }), {
      TOKEN: 'abc',
    });
    expect(literalSecrets.filter((path) => path.startsWith('source'))).toEqual([]);
  });
});

describe('a module source', () => {
  it('resolves its file relative to the configuration, and leaves its options unchanged', () => {
    const options = { token: 'abc', hotels: ['Ritz'], deep: { er: 1 } };
    const config = parse({ source: { kind: 'module', path: './bookings.mjs', options } });
    expect(config.source).toEqual({
      kind: 'module',
      path: '/etc/agency/bookings.mjs',
      columns: {},
      dateFormat: 'yyyy-MM-dd',
      instants: 'auto',
      where: {},
      keep: {},
      maxRepeatedShare: 0.5,
      missing: [],
      options,
    });
  });

  it('is refused without its file', () => {
    expect(complain({ source: { kind: 'module' } })).toEqual(['source.path: expected a path, got: nothing']);
  });
});

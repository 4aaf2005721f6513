// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sourceKinds } from '../../src/sources/registry.js';
import { listLeaves, type SchemaNode } from '../project/size/settings.js';
import { complainOf, complainOfText, parse, service, sftp, source } from './writing.js';

const schema = new URL('../../schema/1.json', import.meta.url);
const leaves = [...listLeaves(JSON.parse(readFileSync(schema, 'utf8')) as SchemaNode)];

/** By their names, whatever the schema says of them. */
const maySecret =
  /secret|password|token|(?<!host)key$|keyFile$|accountId|user$|username|headers|smtp|url$|options|^ledger|^queue|^hook/i;

const hush = 'hush-71717171';
const isShown = (text: string) => /hush|7171/.test(text);

/** What people write where a secret belongs. */
const forms: readonly unknown[] = [
  hush,
  71_717_171,
  `u:${hush}@host`,
  `smpts://u:${hush}@host`,
  `postgres//u:${hush}@host`,
  `postgres:${hush}`,
  `https://host/${hush}?day={${hush}}`,
  `mysql://host/db?${hush}=1`,
  `a\n${hush}\n`,
  ` ${hush}`,
  `-----BEGIN ${hush}`,
  [[hush], hush, 71_717_171],
  { x: { y: [hush] }, y: hush, z: 71_717_171, [`${hush}: x`]: 1 },
];

const kindsOf: Readonly<Record<string, readonly string[]>> = {
  source: sourceKinds.map(({ name }) => name),
  'source.pagination': ['none', 'page', 'offset', 'cursor', 'link'],
  'notify[]': ['email', 'slack', 'teams', 'webhook', 'pagerduty'],
};
const needed: Readonly<Record<string, object>> = { service, source, 'file.sftp': sftp };

/** The settings with that value at that path, once for each kind of group on the way. */
function place([name = '', ...rest]: readonly string[], value: unknown, inside = ''): object[] {
  const path = inside === '' ? name : `${inside}.${name}`;
  const key = name === '*' ? 'X' : name.replace('[]', '');
  const write = (member: unknown) => ({ [key]: name.endsWith('[]') ? [member] : member });
  if (rest.length === 0) return [write(value)];
  return place(rest, value, path).flatMap((members) =>
    (kindsOf[path] ?? [undefined]).map((kind) =>
      write({ ...needed[path], ...(kind && { kind }), ...members }),
    ),
  );
}

/** The messages about that value that show what must not be seen. */
const findShown = (path: string, value: unknown, env: NodeJS.ProcessEnv = {}) =>
  place(path.split('.'), value)
    .map((settings) => complainOf(() => parse({ ...settings }, env)).message)
    .filter(isShown);

describe('no message quotes', () => {
  it.each(leaves.filter((path) => maySecret.test(path)))('what is written as %s', (path) => {
    for (const form of forms) expect(findShown(path, form), JSON.stringify(form)).toEqual([]);
  });

  it('a setting that nobody called open: a new one fails here until somebody has asked whether it may hold a secret', () => {
    const quoted = leaves.filter(
      (path) => findShown(path, hush).length > 0 || findShown(path, [hush]).length > 0,
    );
    expect(quoted).toMatchInlineSnapshot(`
      [
        "timezone",
        "service.timeoutSeconds",
        "source.kind",
        "source.doneMarker",
        "source.encoding",
        "source.sftp.hostKey",
        "source.sftp.hostKey[]",
        "source.maxRepeatedShare",
        "source.dateFormat",
        "source.instants",
        "source.delimiter",
        "source.skipRows",
        "source.timeoutSeconds",
        "source.pagination.kind",
        "delivery",
        "body.batchSize",
        "body.concurrency",
        "body.requestsPerSecond",
        "body.timeoutSeconds",
        "file.sftp.port",
        "file.sftp.hostKey",
        "file.sftp.hostKey[]",
        "file.incomplete",
        "file.maxPostedShare",
        "file.resultTimeoutMinutes",
        "file.resultQuietSeconds",
        "file.resultPollSeconds",
        "file.resultNames",
        "file.removeAfterDays",
        "maxRejectedShare",
        "maxIncompleteShare",
        "maxRefusedShare",
        "volume.minimum",
        "volume.shareOfUsual",
        "volume.onDrop",
        "volume.exceptions[]",
        "maxUnansweredShare",
        "maxAffectedShare",
        "emptyDay",
        "retry.tries",
        "retry.baseSeconds",
        "retry.capSeconds",
        "schedule.cron",
        "schedule.today",
        "schedule.catchUpDays",
        "schedule.resumeMinutes",
        "schedule.giveUpAfter",
        "deadline",
        "deadline.at",
        "heartbeat.kind",
        "notify[].kind",
        "notify[].on[]",
        "notify[].minimum",
        "notify[].at",
        "notify[].from",
        "notify[].to[]",
        "notify[].plaintext",
        "server.port",
        "server.proxies[]",
        "workers.leaseSeconds",
        "workers.stopSeconds",
        "workers.connections",
        "mappings.cron",
        "verdicts.imap.port",
        "verdicts.imap.tls",
        "verdicts.from[]",
        "verdicts.pollMinutes",
        "canary.serviceId",
        "canary.withinHours",
        "guestNames",
        "guestNameDays",
        "recordDays",
      ]
    `);
  });

  it('a text, a number or a list in place of a group', () => {
    const groups = leaves.flatMap((path) =>
      path.split('.').map((_, at, names) => names.slice(0, at).join('.')),
    );
    const ofSettings = groups.filter((path) => !/^$|^deadline|columns|where|keep|statusCodes/.test(path));
    for (const path of new Set(ofSettings))
      for (const form of [hush, `u:${hush}@h`, [hush, 71_717_171]])
        expect(findShown(path, form), `${path}: ${form}`).toEqual([]);
  });

  it('what an unknown setting holds, nor a name that is none', () => {
    const form = { x: hush, y: [hush, 71_717_171], [`${hush}: x`]: 1 };
    for (const path of leaves.filter((one) => !/\*|\]$/.test(one))) {
      expect(findShown(`${path}x`, hush), path).toEqual([]);
      const unknown = path.replace(/[^.]+$/, (name) => `_${name.toLowerCase()}`);
      expect(findShown(unknown, form), unknown).toEqual([]);
    }
    expect(isShown(complainOf(() => parse({ [`apiKey:${hush}`]: 1 })).message)).toBe(false);
  });

  it('what a variable of the environment held, whatever the setting', () => {
    for (const path of leaves)
      for (const form of ['${NAME}', ['x${NAME}']])
        expect(findShown(path, form, { NAME: hush }), path).toEqual([]);
  });

  it.each([
    `service: { apiKey: "${hush} }`,
    `service: { apiKey:${hush}, accountId: a }`,
    `service:\n  apiKey:${hush}\n  accountId: a`,
    `service:\n\tapiKey: ${hush}`,
    `service: { apiKey: ${hush}, apiKey: ${hush} }`,
    `${hush}: 1\n${hush}: 2`,
    `hook: { secret: *${hush} }`,
    `hook: { secret: &a ${hush}, x: *a }`,
    `hook: { <<: *${hush} }`,
    `hook: { secret: !${hush} x }`,
    `hook: { secret: @${hush} }`,
    `hook: { secret: "\\q${hush}" }`,
    `hook: { secret: |\n  ${hush}\n x }`,
    `hook: { secret: "\${${hush}" }`,
    `hook: { secret: "\${${hush}}" }`,
    `%${hush}\n---\nhook: x`,
    `--- ${hush}\n--- ${hush}`,
    hush,
  ])('the YAML %j', (text) => {
    const complaints = complainOfText(text);
    expect(complaints).not.toEqual([]);
    expect(complaints.filter(isShown)).toEqual([]);
  });
});

import { unknownApi } from '../../base/setting-placeholders.js';
import {
  type Questions,
  type SettingWriter,
  type SourceSetup,
  sampleRecords,
  sourceVariables,
} from '../common/setup.js';
import { listElements } from '../json/json-text.js';
import { listMembers, toMemberSample } from '../json/sample.js';
import { type HttpOptions, httpRules as rules } from './flags.js';
import { createDayPages, toPageOptions } from './http-source.js';
import type { HttpSettings } from './kind.js';
import { askPagination, type PaginationAnswers, renderPagination } from './pagination-setup.js';

export interface HttpAnswers {
  readonly kind: 'http';
  readonly url: string | undefined;
  readonly auth: AuthAnswers;
  /** Where a response holds its list of bookings; undefined if the response is that list. */
  readonly records: string | undefined;
  readonly pagination: PaginationAnswers;
}

/** How the API authenticates its callers. */
export type AuthAnswers =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer' }
  | { readonly kind: 'header'; readonly name: string };

export const httpSetup: SourceSetup<HttpAnswers, HttpSettings, HttpOptions> = {
  label: 'Behind an HTTP API that returns JSON',
  isImpliedBy: ({ url, records, pagination, auth }) =>
    url === undefined
      ? [records, pagination, auth].some((option) => option !== undefined)
      : /^https?:/i.test(url),
  checkOptions({ pagination, cursorField }, { asks }) {
    return pagination === 'cursor' && cursorField === undefined && !asks
      ? '--pagination cursor needs --cursor-field: with a wrong field a day would seem to have one page only'
      : undefined;
  },
  async ask(options, questions) {
    const url = await questions.text({
      rule: rules.url,
      given: options.url,
      message: "The API's address, with {day}, or {dayStart} and {dayEnd}, in it (empty: later)",
    });
    const auth = await askAuth(options, questions);
    const records = await questions.text({
      rule: rules.records,
      given: options.records,
      message: 'Where a response holds its list of bookings, such as data.bookings (empty: it is that list)',
    });
    return { kind: 'http', url, auth, records, pagination: await askPagination(options, questions) };
  },
  listSecrets({ auth }) {
    switch (auth.kind) {
      case 'none':
        return [];
      case 'bearer':
        return ['sourceToken'];
      case 'header':
        return ['sourceKey'];
    }
  },
  render: ({ url, auth, records: path, pagination }, write, { records }) => [
    ...write.answer(['source', 'url'], url, { text: unknownApi, what: "the API's address" }),
    ...renderAuth(auth, write),
    ...(path === undefined
      ? write.option(['source', 'records'])
      : write.setting(['source', 'records'], path)),
    ...renderPagination(pagination, write),
    ...records,
  ],
  /** Samples the first page, with the source's own request. */
  sample(settings, parts) {
    const { read } = createDayPages(toPageOptions(settings, parts));
    return async (day, signal) => {
      for await (const page of read(day, signal)) {
        return toMemberSample(listFirst(page).map((json) => listMembers(JSON.parse(json))));
      }
      signal.throwIfAborted();
      return toMemberSample([]);
    };
  },
  findObjection: ({ columns }, { iso }) => (columns.length > 0 ? undefined : `it holds no booking of ${iso}`),
};

async function askAuth({ auth, authName }: HttpOptions, questions: Questions): Promise<AuthAnswers> {
  const kind = await questions.choose('auth', auth, {
    message: 'How does the API authenticate callers?',
    choices: [
      { value: 'none', label: 'Not at all' },
      { value: 'bearer', label: 'By a bearer token' },
      { value: 'header', label: 'By another header, such as one for a key' },
    ],
    fallback: 'none',
  });
  switch (kind) {
    case 'none':
      return { kind };
    case 'bearer':
      await questions.secret({
        secret: 'sourceToken',
        rule: rules.token,
        message: 'The token (hidden; empty: later)',
      });
      return { kind };
    case 'header': {
      const fallback = 'X-Api-Key';
      const name = await questions.text({
        rule: rules.headerName,
        given: authName,
        message: 'The name of the header',
        fallback,
      });
      await questions.secret({
        secret: 'sourceKey',
        rule: rules.key,
        message: 'The key (hidden; empty: later)',
      });
      return { kind, name: name ?? fallback };
    }
  }
}

function renderAuth(auth: AuthAnswers, write: SettingWriter): string[] {
  switch (auth.kind) {
    case 'none':
      return [];
    case 'bearer':
      return [
        ...write.group(['source', 'headers']),
        write.bareReference(['source', 'headers', 'Authorization'], sourceVariables.sourceToken, 'Bearer '),
      ];
    case 'header':
      return [
        ...write.group(['source', 'headers']),
        write.bareReference(['source', 'headers', auth.name], sourceVariables.sourceKey),
      ];
  }
}

function listFirst(page: string): readonly string[] {
  const first: string[] = [];
  for (const json of listElements(page)) {
    if (first.length === sampleRecords) break;
    first.push(json);
  }
  return first;
}

import type { Questions, SettingWriter } from '../common/setup.js';
import { type HttpOptions, httpRules as rules } from './flags.js';

/** How the API splits a day into pages. */
export type PaginationAnswers =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'page';
      readonly parameter: string;
      readonly first: number;
    }
  | {
      readonly kind: 'offset';
      readonly parameter: string;
    }
  /** Without a parameter, the field holds the address of the next page. */
  | { readonly kind: 'cursor'; readonly field: string; readonly parameter: string | undefined }
  | { readonly kind: 'link' };

export async function askPagination(options: HttpOptions, questions: Questions): Promise<PaginationAnswers> {
  const { pageParameter, cursorField, firstPage } = options;
  const askParameter = (message: string, fallback?: string) =>
    questions.text({ rule: rules.pageParameter, given: pageParameter, message, fallback });
  /** There is no default: with a wrong field a day would seem to have one page only. */
  const askField = async (): Promise<string> => {
    const message = 'The field of a response that says what comes next, such as meta.next';
    return (await questions.text({ rule: rules.cursorField, given: cursorField, message })) ?? askField();
  };

  const kind = await questions.choose('pagination', options.pagination, {
    message: 'How does it split a day into pages?',
    choices: [
      { value: 'none', label: 'One response holds the whole day' },
      { value: 'page', label: 'By page number' },
      { value: 'offset', label: 'By offset: how many bookings to skip' },
      { value: 'cursor', label: 'By a field of the response: a cursor, or the next address' },
      { value: 'link', label: 'By the header Link' },
    ],
    fallback: 'none',
  });
  switch (kind) {
    case 'none':
    case 'link':
      return { kind };
    case 'page': {
      const parameter = (await askParameter('The parameter for the page number', 'page')) ?? 'page';
      const first = await questions.choose('firstPage', firstPage, {
        message: 'The number of the first page',
        choices: [
          { value: '1', label: '1' },
          { value: '0', label: '0' },
        ],
        fallback: '1',
      });
      return { kind, parameter, first: Number(first) };
    }
    case 'offset':
      return { kind, parameter: (await askParameter('The parameter for the offset', 'offset')) ?? 'offset' };
    case 'cursor':
      return {
        kind,
        field: await askField(),
        parameter: await askParameter('The parameter for it (empty: the field holds the next address)'),
      };
  }
}

export function renderPagination(pagination: PaginationAnswers, write: SettingWriter): string[] {
  const group = ['source', 'pagination'] as const;
  const setting = (name: string, value: string | number | undefined): string[] =>
    value === undefined ? [] : write.setting([...group, name], value);
  const head = [...write.group(group), ...setting('kind', pagination.kind)];
  switch (pagination.kind) {
    case 'none':
    case 'link':
      return head;
    case 'page':
      return [...head, ...setting('parameter', pagination.parameter), ...setting('first', pagination.first)];
    case 'offset':
      return [...head, ...setting('parameter', pagination.parameter)];
    case 'cursor':
      return [...head, ...setting('parameter', pagination.parameter), ...setting('field', pagination.field)];
  }
}

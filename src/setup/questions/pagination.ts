import type { PaginationAnswers } from '../answers/source-answers.js';
import type { InitOptions } from '../init-options.js';
import type { Questions } from './questions.js';

const usualSize = '100';

/** Asks how an API hands out more bookings than one answer holds. */
export async function askPagination(options: InitOptions, questions: Questions): Promise<PaginationAnswers> {
  const kind = await questions.choose('pagination', options.pagination, {
    message: 'How does it hand out more bookings than one answer holds?',
    choices: [
      { value: 'none', label: 'One answer holds the whole day' },
      { value: 'page', label: 'By the number of the page' },
      { value: 'offset', label: 'By an offset: how many to leave out' },
      { value: 'cursor', label: 'By a field of the answer: a cursor, or the next address' },
      { value: 'link', label: 'By the header Link' },
    ],
    fallback: 'none',
  });
  switch (kind) {
    case 'none':
    case 'link':
      return { kind };
    case 'page':
      return {
        kind,
        parameter: await askParameter(options, questions, 'The parameter for the number', 'page'),
        first: Number(
          await questions.choose('firstPage', options.firstPage, {
            message: 'The number of the first page',
            choices: [
              { value: '1', label: '1' },
              { value: '0', label: '0' },
            ],
            fallback: '1',
          }),
        ),
        size: await askSize(options, questions),
      };
    case 'offset':
      return {
        kind,
        parameter: await askParameter(options, questions, 'The parameter for the offset', 'offset'),
        limitParameter:
          (await askSizeParameter(options, questions, 'The parameter for how many to give', 'limit')) ??
          'limit',
        limit: await askNumber(options, questions),
      };
    case 'cursor':
      return {
        kind,
        field: await askField(options, questions),
        parameter: await askCursor(options, questions),
      };
  }
}

async function askParameter(
  { pageParameter: given }: InitOptions,
  questions: Questions,
  message: string,
  fallback: string,
): Promise<string> {
  return (await questions.text({ name: 'pageParameter', given, message, fallback })) ?? fallback;
}

function askSizeParameter(
  { pageSizeParameter: given }: InitOptions,
  questions: Questions,
  message: string,
  fallback?: string,
): Promise<string | undefined> {
  return questions.text({ name: 'pageSizeParameter', given, message, fallback });
}

async function askSize(options: InitOptions, questions: Questions) {
  const message = 'The parameter for how many a page is to hold (empty: none)';
  const parameter = await askSizeParameter(options, questions, message);
  return parameter === undefined ? undefined : { parameter, size: await askNumber(options, questions) };
}

async function askNumber({ pageSize }: InitOptions, questions: Questions): Promise<number> {
  const given = pageSize === undefined ? undefined : String(pageSize);
  const message = 'How many to ask for at a time';
  const asked = await questions.text({ name: 'pageSize', given, message, fallback: usualSize });
  return Number(asked ?? usualSize);
}

/** There is no default: with a wrong field, a day would seem to be of one page. */
async function askField(options: InitOptions, questions: Questions): Promise<string> {
  const message = 'The field of an answer that says what comes next, such as meta.next';
  const given = options.cursorField;
  return (await questions.text({ name: 'cursorField', given, message })) ?? askField(options, questions);
}

function askCursor({ pageParameter: given }: InitOptions, questions: Questions) {
  const message = 'The parameter that takes it (empty: the field holds the next address)';
  return questions.text({ name: 'pageParameter', given, message });
}

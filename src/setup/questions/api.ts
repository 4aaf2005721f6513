import { checkHeaderName } from '../../sources/http/request.js';
import type { AuthAnswers, HttpAnswers } from '../answers/source-answers.js';
import type { InitOptions } from '../init-options.js';
import { askPagination } from './pagination.js';
import type { Questions } from './questions.js';

/** Asks for an API: its address, who asks there, and how it answers. */
export async function askApi(options: InitOptions, questions: Questions): Promise<HttpAnswers> {
  const url = await questions.text({
    name: 'url',
    given: options.url,
    message: "The API's address, with {day}, or {dayStart} and {dayEnd}, in it (empty: later)",
  });
  const auth = await askAuth(options, questions);
  const records = await questions.text({
    name: 'records',
    given: options.records,
    message: 'Where an answer holds its list of bookings, such as data.bookings (empty: it is that list)',
  });
  const pagination = await askPagination(options, questions);
  return { kind: 'http', url, auth, records, pagination };
}

async function askAuth({ auth, authName }: InitOptions, questions: Questions): Promise<AuthAnswers> {
  const kind = await questions.choose('auth', auth, {
    message: 'How does it know who asks?',
    choices: [
      { value: 'none', label: 'It does not' },
      { value: 'bearer', label: 'By a bearer token' },
      { value: 'basic', label: 'By user name and password' },
      { value: 'header', label: 'By a key in a header' },
    ],
    fallback: 'none',
  });
  switch (kind) {
    case 'none':
      return { kind };
    case 'bearer':
      await questions.secret({
        secret: 'sourceToken',
        name: 'sourceToken',
        message: 'The token (hidden; empty: later)',
      });
      return { kind };
    case 'basic': {
      const username = await questions.text({
        name: 'basicUsername',
        given: authName,
        message: 'The user name (empty: later)',
      });
      await questions.secret({
        secret: 'sourcePassword',
        name: 'sourcePassword',
        message: 'The password (hidden; empty: later)',
      });
      return { kind, username };
    }
    case 'header': {
      const fallback = 'X-Api-Key';
      const name = await questions.text({
        name: 'headerName',
        given: authName,
        message: 'The name of the header',
        fallback,
        check: checkHeader,
      });
      await questions.secret({
        secret: 'sourceKey',
        name: 'sourceKey',
        message: 'The key (hidden; empty: later)',
      });
      return { kind, name: name ?? fallback };
    }
  }
}

/** Says why a header can't be set; undefined where it can. */
export function checkHeader(name: string): string | undefined {
  return checkHeaderName(name) === undefined ? undefined : 'expected the name of a header that can be set';
}

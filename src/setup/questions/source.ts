import type { ModuleAnswers, SourceAnswers } from '../answers/source-answers.js';
import { impliedKind, suggestKind } from '../answers/source-kind.js';
import type { InitOptions } from '../init-options.js';
import { askApi } from './api.js';
import { askDatabase } from './database.js';
import { askFile } from './file.js';
import type { Questions } from './questions.js';

/** Asks where a day's bookings come from, as far as the options don't say. */
export async function askSource(options: InitOptions, questions: Questions): Promise<SourceAnswers> {
  const kind = await questions.choose('kind', impliedKind(options), {
    message: 'Where are the bookings?',
    choices: [
      { value: 'csv', label: 'In files: CSV with a header' },
      { value: 'ndjson', label: 'In files: NDJSON, one JSON object a line' },
      { value: 'sql', label: 'In a database: PostgreSQL, MySQL, MariaDB or SQLite' },
      { value: 'http', label: 'Behind an HTTP API that answers in JSON' },
      { value: 'module', label: 'Wherever a module of your own finds them' },
    ],
    fallback: suggestKind(options.path),
  });
  switch (kind) {
    case 'csv':
    case 'ndjson':
      return askFile(kind, options, questions);
    case 'sql':
      return askDatabase(options, questions);
    case 'http':
      return askApi(options, questions);
    case 'module':
      return askModule(options, questions);
  }
}

async function askModule({ path: given }: InitOptions, questions: Questions): Promise<ModuleAnswers> {
  const fallback = 'bookings.mjs';
  const message = 'The file of the module';
  const path = await questions.text({ name: 'modulePath', given, message, fallback, isPath: true });
  return { kind: 'module', path: path ?? fallback };
}

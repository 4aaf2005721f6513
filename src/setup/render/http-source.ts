import { unknownApi, unknownWord } from '../../config/placeholders.js';
import type { Examination } from '../../examination/examine-day.js';
import { variables } from '../answers/secrets.js';
import type { AuthAnswers, HttpAnswers, PaginationAnswers } from '../answers/source-answers.js';
import { mark } from './mark.js';
import { renderRecords } from './records.js';
import { writeGroup, writeOption, writeReference, writeSetting, writeVariable } from './setting-lines.js';

/** Bookings from an HTTP API. */
export function renderHttpSource(
  { url, auth, records, pagination }: HttpAnswers,
  examination: Examination,
): string[] {
  return [
    ...writeSetting(['source', 'url'], url ?? unknownApi, mark(url, "the API's address"), 'http'),
    ...renderAuth(auth),
    ...(records === undefined
      ? writeOption(['source', 'records'])
      : writeSetting(['source', 'records'], records)),
    ...renderPagination(pagination),
    ...renderRecords(examination),
    ...writeOption(['source', 'timeoutSeconds'], 'http'),
  ];
}

function renderAuth(auth: AuthAnswers): string[] {
  switch (auth.kind) {
    case 'none':
      return [];
    case 'bearer':
      return writeReference(['source', 'bearerToken'], variables.sourceToken);
    case 'basic': {
      const basic = ['source', 'basic'] as const;
      const { username } = auth;
      return [
        ...writeGroup(basic),
        ...writeSetting([...basic, 'username'], username ?? unknownWord, mark(username, 'your user name')),
        ...writeReference([...basic, 'password'], variables.sourcePassword),
      ];
    }
    case 'header':
      return [
        ...writeGroup(['source', 'headers']),
        writeVariable(['source', 'headers', auth.name], variables.sourceKey),
      ];
  }
}

function renderPagination(pagination: PaginationAnswers): string[] {
  const group = ['source', 'pagination'] as const;
  const setting = (name: string, value: string | number | undefined): string[] =>
    value === undefined ? [] : writeSetting([...group, name], value);
  const head = [...writeGroup(group), ...setting('kind', pagination.kind)];
  switch (pagination.kind) {
    case 'none':
    case 'link':
      return head;
    case 'page':
      return [
        ...head,
        ...setting('parameter', pagination.parameter),
        ...setting('first', pagination.first),
        ...setting('sizeParameter', pagination.size?.parameter),
        ...setting('size', pagination.size?.size),
      ];
    case 'offset':
      return [
        ...head,
        ...setting('parameter', pagination.parameter),
        ...setting('limitParameter', pagination.limitParameter),
        ...setting('limit', pagination.limit),
      ];
    case 'cursor':
      return [...head, ...setting('parameter', pagination.parameter), ...setting('field', pagination.field)];
  }
}

import { type Refusal, refusal } from '../service/refusal.js';

/** What a call of Export Mappings File asks for. (Spec 4.5.) */
export interface ExportRequest {
  readonly kind: 'request';
  readonly emailId: string;
  /** Those whose mappings are exported. */
  readonly providers: readonly string[];
}

/** Somebody at a domain; nothing that could end a header or name a second recipient. */
const address = /^[^\s@,;:<>()[\]"\\\p{Cc}]{1,64}@[^\s@,;:<>()[\]"\\\p{Cc}]{1,255}$/u;

/**
 * Reads the parameters. One that is blank counts as not given.
 *
 * @param known the providers that there are
 */
export function readExportRequest(
  parameters: URLSearchParams,
  known: readonly string[],
): ExportRequest | Refusal {
  const emailId = parameters.get('emailId')?.trim() ?? '';
  if (emailId === '')
    return refusal(2025, 'emailId is missing: expected the e-mail address that the export goes to.');
  if (!address.test(emailId)) return refusal(2002, 'emailId: expected one e-mail address.');
  const asked = (parameters.get('providerfamilies') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (asked.some((name) => !known.includes(name)))
    return refusal(
      2011,
      `providerfamilies: expected names of ${known.join(', ')}, separated by commas, in exact case.`,
    );
  const isAsked = (name: string) => asked.length === 0 || asked.includes(name);
  return { kind: 'request', emailId, providers: known.filter(isAsked) };
}

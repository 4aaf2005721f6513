import { basename } from 'node:path/posix';
import { type BusinessDay, createBusinessDay } from '../../booking/business-day.js';
import { createDateReader } from '../../booking/written-date.js';

/** How programs write a day into the name of its export, as date-fns patterns, the likeliest first. */
const forms = [
  'yyyy-MM-dd',
  'yyyyMMdd',
  'yyyy_MM_dd',
  'yyyy.MM.dd',
  'dd-MM-yyyy',
  'dd.MM.yyyy',
  'dd_MM_yyyy',
  'ddMMyyyy',
  'MM-dd-yyyy',
  'MMddyyyy',
  'yyyy/MM/dd',
];

/** Folders above such a file may repeat parts of its day. */
const folderForms = ['yyyy/MM', 'yyyy-MM', 'yyyyMM', 'yyyy'];

const digits: Readonly<Record<string, string>> = {
  yyyy: '(?:19|20|21)\\d\\d',
  MM: '(?:0[1-9]|1[0-2])',
  dd: '(?:0[1-9]|[12]\\d|3[01])',
  '.': '\\.',
};

/**
 * Finds the day in the path of an export; undefined if it names none. Where several patterns fit, that of most files beside it
 * is meant.
 *
 * @returns `template` gives the path for any day, as the setting `source.path` takes it; `isNext`: whether it names the day after that of
 *   its bookings
 * @param path with slashes
 * @param beside the names in its folder
 */
export function findDayInName(path: string, beside: readonly string[], zone: string) {
  const shapeOf = (name: string, form: string) => name.replace(matchForm(form), '*');
  const fitting = forms.flatMap((form) => {
    const iso = createDateReader(form)(path.match(matchForm(form))?.at(-1) ?? '');
    if (iso === undefined) return [];
    const shape = shapeOf(basename(path), form);
    const files = beside.filter((name) => shapeOf(name, form) === shape).length;
    return [{ iso, form, files }];
  });
  const [found] = fitting.toSorted((one, other) => other.files - one.files);
  if (found === undefined) return undefined;
  const day = createBusinessDay(found.iso, zone);
  return { iso: found.iso, template: (isNext: boolean) => writeTemplate(path, found.form, day, isNext) };
}

/** Digits beside a date would make it a number. */
function matchForm(form: string): RegExp {
  return new RegExp(`(?<!\\d)${form.replace(/yyyy|MM|dd|\./g, (part) => digits[part] ?? part)}(?!\\d)`, 'g');
}

function writeTemplate(path: string, form: string, day: BusinessDay, isNext: boolean): string {
  const word = isNext ? 'day+1' : 'day';
  const placeholder = (pattern: string) => (pattern === 'yyyy-MM-dd' ? `{${word}}` : `{${word}:${pattern}}`);
  const whole = [form, ...forms].reduce(
    (written, one) =>
      written.replace(matchForm(one), (date) => (date === day.format(one) ? placeholder(one) : date)),
    path,
  );
  return folderForms.reduce(
    (written, one) => `/${written}`.replaceAll(`/${day.format(one)}/`, `/${placeholder(one)}/`).slice(1),
    whole,
  );
}

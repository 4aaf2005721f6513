/** Replaces what differs from one recording to the next by a word that says what it was. */
export type Normalise = (text: string) => string;

/** @param places texts that depend on the machine, such as folders and addresses, and what to write instead */
export function createNormaliser(places: ReadonlyMap<string, string>): Normalise {
  const runs = new Map<string, string>();
  /** Ids are random: runs are numbered as they appear. */
  const nameRun = (id: string, day: string) => {
    const known = runs.get(id);
    if (known !== undefined) return known;
    const before = [...runs.keys()].filter((other) => other.startsWith(day)).length;
    const name = `${day}-run${before + 1}`;
    runs.set(id, name);
    return name;
  };
  return (text) => {
    let normal = text;
    for (const [place, name] of places) normal = normal.replaceAll(place, name);
    normal = normal.replace(/(?<!\d)(\d{8})-[0-9a-z]{8}(?![0-9a-z])/g, nameRun);
    for (const [pattern, replacement] of patterns) normal = normal.replace(pattern, replacement);
    return normal.replace(drawing, outlineDrawing);
  };
}

const patterns: readonly (readonly [RegExp, string])[] = [
  [/(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])/g, 'UUID'],
  // Each command begins at the same second of a minute, and ends within that minute.
  [/\b(\d{4}-\d\d-\d\d[T ]\d\d(?:%3A|:)\d\d)(%3A|:)\d\d(?:\.\d{3})?/g, '$1$200'],
  [/\b(\d{8}T\d{4})\d\d(?:\.\d{3})?Z/g, '$100Z'],
  [/\b(\d\d:\d\d):\d\d\b/g, '$1:00'],
  // Which of two ended last within that minute depends on how long both took.
  [/\b\d{8}-run\d+ of \d{4}-\d\d-\d\d(, ended\s+at)/g, 'RUN of DAY$1'],
  [/\b\d+(?:\.\d+)? ?(?:ms|s|seconds?)\b/g, 'DURATION'],
  [/("\w*(?:Ms|[sS]econds)": ?)\d+(?:\.\d+)?/g, '$1"DURATION"'],
  [/\b1\d{12}\b/g, 'INSTANT'],
  [/\b127\.0\.0\.1:\d+/g, '127.0.0.1:PORT'],
  [/("port": ?)\d+/g, '$1"PORT"'],
  [/\bSHA256:[A-Za-z0-9+/]{43}/g, 'SHA256:FINGERPRINT'],
  [/\b\d+(?:\.\d+)? [KMG]i?B free/g, 'SIZE free'],
  [/\(\d[\d,]* bytes\)/g, '(SIZE)'],
  [/("(?:token|seen)"(?:: "| value="))[^"]*/g, '$1TOKEN'],
  [/\bv1,[A-Za-z0-9+/]{43}=/g, 'SIGNATURE'],
  [/(\$schema=)\S+/g, '$1SCHEMA'],
  [/\b(webhook-timestamp: )\d+/g, '$1INSTANT'],
  // With a legend that says what there is of it.
  [/<svg[^>]*aria-label="Duration"[\s\S]*?<\/p>/g, 'CHART OF DURATIONS'],
  [/(\/assets\/\w+)[.-][\w-]{8,}(\.\w+)/g, '$1$2'],
];

/** A drawing may hold others, which stretch. */
const drawing =
  /<svg(?:(?!<\/?svg)[\s\S])*(?:<svg(?:(?!<\/?svg)[\s\S])*<\/svg>(?:(?!<\/?svg)[\s\S])*)*<\/svg>/g;

/** What is drawn follows from how long things took; what it says about anything else stays. */
function outlineDrawing(svg: string): string {
  const [open = ''] = /^<svg[^>]*>/.exec(svg) ?? [];
  const titles = [...svg.matchAll(/<title>([^<]*)/g)].flatMap(([, title = '']) =>
    title.includes('DURATION') ? [] : [`<title>${title}</title>`],
  );
  return [open.replace(/ (?:width|height|viewBox)="[^"]*"/g, ''), ...new Set(titles.sort()), '</svg>'].join(
    '\n',
  );
}

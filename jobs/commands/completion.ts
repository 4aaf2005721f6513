import { InvalidArgumentError } from 'commander';
import { quoteWord } from '../../src/base/shell.js';
import { bareCommand } from '../command.js';
import commandWords from '../command-words.json' with { type: 'json' };

const shells = ['bash', 'zsh', 'fish'] as const;

/** Prints what makes a shell complete commands, options and their choices. */
export default bareCommand({
  place: ['running', 5],
  summary: 'print a script with which bash, zsh or fish completes commands and options',
  usage: '<shell>',
  arguments: (shell: string) => ({ shell }),
  examples: `
Days, bookings and cases are not looked up.

Examples:
  hotel-review completion bash > ~/.local/share/bash-completion/completions/hotel-review
  hotel-review completion zsh > ~/.zfunc/_hotel-review     a folder of fpath
  hotel-review completion fish > ~/.config/fish/completions/hotel-review.fish`,

  read({ shell: typed }) {
    const shell = shells.find((one) => one === typed);
    if (!shell) throw new InvalidArgumentError(`expected ${shells.join(', ')}, got: ${typed}`);
    return { shell };
  },

  async run(bare, { shell }) {
    const script = renderers[shell]();
    return bare.answer(script, { shell, script });
  },
});

/** What may be typed after a command. `npm run docs` writes them to command-words.json. */
export interface Place {
  /** The words of the command; none for the program. */
  readonly path: string;
  /** Commands below it, and words that it takes, each with what it means. */
  readonly words: readonly (readonly [word: string, meaning: string])[];
  /** Its own, but the program's are every command's. */
  readonly options: readonly OptionWords[];
  readonly takesFiles: boolean;
}

export interface OptionWords {
  readonly flags: readonly string[];
  readonly meaning: string;
  /** Its choices, if it has some; null for an option without a value. */
  readonly value: readonly string[] | null;
  readonly takesFile: boolean;
}

// A tuple is an array of anything to TypeScript, once it is JSON.
const [program, ...commands] = commandWords as unknown as readonly [Place, ...Place[]];
const ofEvery = program.options.filter(({ flags }) => !flags.includes('--version'));
const places = [program, ...commands.map((place) => ({ ...place, options: [...place.options, ...ofEvery] }))];

const quoteAll = (texts: readonly string[]) => texts.map(quoteWord).join(' ');
const patterns = (texts: readonly string[]) => texts.map(quoteWord).join(' | ');

/** After which words values of options follow; together where these are the same. */
function listValued() {
  const groups: {
    readonly value: readonly string[];
    readonly takesFile: boolean;
    readonly after: string[];
  }[] = [];
  for (const { path, options } of places)
    for (const { flags, value, takesFile } of options) {
      if (!value) continue;
      const after = flags.map((flag) => `${path} ${flag}`);
      const same = groups.find((one) => one.takesFile === takesFile && one.value.join() === value.join());
      if (same) same.after.push(...after);
      else groups.push({ value, takesFile, after });
    }
  return groups;
}

/** The command that has been typed, in a loop over the words before the cursor; for bash and zsh. */
function renderPath(word: string): string {
  return `    case ${word} in
      --config | --log-level) ((at++)) ;;
      -*) ;;
      *)
        case "\${command:+$command }${word}" in
          ${patterns(commands.map(({ path }) => path))}) command="\${command:+$command }${word}" ;;
        esac
        ;;
    esac`;
}

function renderBash(): string {
  const values = listValued().map(
    ({ value, takesFile, after }) =>
      `    ${patterns(after)}) words=(${quoteAll(value)})${takesFile ? ' files=1' : ''} ;;`,
  );
  const cases = places.map(({ path, words, options, takesFiles }) => {
    const all = [...words.map(([word]) => word), ...options.flatMap(({ flags }) => flags)];
    return `        ${quoteWord(path)}) words=(${quoteAll(all)})${takesFiles ? ' files=1' : ''} ;;`;
  });
  return `# Completion of hotel-review for bash.
_hotel_review() {
  local current=\${COMP_WORDS[COMP_CWORD]} command='' files='' at
  local words=()
  for ((at = 1; at < COMP_CWORD; at++)); do
${renderPath(`\${COMP_WORDS[at]}`)}
  done
  case "$command \${COMP_WORDS[COMP_CWORD - 1]}" in
${values.join('\n')}
    *)
      case $command in
${cases.join('\n')}
      esac
      ;;
  esac
  local IFS=$'\\n'
  mapfile -t COMPREPLY < <(compgen -W "\${words[*]}" -- "$current")
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _hotel_review hotel-review
`;
}

function renderZsh(): string {
  // A colon separates a word from its description.
  const describe = (entries: readonly (readonly [string, string])[]) =>
    quoteAll(entries.map(([word, meaning]) => `${word}:${meaning.replaceAll(':', '\\:')}`));
  const values = listValued().map(({ value, takesFile, after }) => {
    const given = takesFile ? '_files' : `compadd -- ${quoteAll(value)}`;
    return `    ${patterns(after)}) ${given}; return ;;`;
  });
  const cases = places.map(({ path, words, options, takesFiles }) => {
    const flags = options.flatMap((option) => option.flags.map((flag) => [flag, option.meaning] as const));
    return `    ${quoteWord(path)})
      found=(${describe(words)})
      options=(${describe(flags)})
${takesFiles ? '      _files\n' : ''}      ;;`;
  });
  return `#compdef hotel-review
# Completion of hotel-review for zsh.
_hotel_review() {
  local command='' at
  local -a found options
  for ((at = 2; at < CURRENT; at++)); do
${renderPath(`\${words[at]}`)}
  done
  case "$command \${words[CURRENT - 1]}" in
${values.join('\n')}
  esac
  case $command in
${cases.join('\n')}
  esac
  _describe 'command' found
  _describe -o 'option' options
}
if [ "\${funcstack[1]}" = '_hotel-review' ]; then
  _hotel_review "$@"
else
  compdef _hotel_review hotel-review
fi
`;
}

function renderFish(): string {
  const quoteFish = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = places.flatMap(({ path, words, options, takesFiles }) => {
    const here = `complete -c hotel-review -n ${quoteFish(`__hotel_review_at ${quoteFish(path)}`)}`;
    return [
      ...words.map(([word, meaning]) => `${here} -a ${word} -d ${quoteFish(meaning)}`),
      ...options.map(({ flags, meaning, value, takesFile }) => {
        const names = flags.map((flag) => flag.replace(/^--/, '-l ').replace(/^-(?=\w$)/, '-s '));
        const choices = value && value.length > 0 ? ` -a ${quoteFish(value.join(' '))}` : '';
        const takes = takesFile ? ' -r -F' : value && ` -x${choices}`;
        return `${here} ${names.join(' ')}${takes ?? ''} -d ${quoteFish(meaning)}`;
      }),
      ...(takesFiles ? [`${here} -F`] : []),
    ];
  });
  return `# Completion of hotel-review for fish.
function __hotel_review_at
  set -l command ''
  set -l skips no
  for word in (commandline -opc)[2..-1]
    if test $skips = yes
      set skips no
      continue
    end
    set -l longer (string trim -- "$command $word")
    switch $word
      case --config --log-level
        set skips yes
      case '-*'
      case '*'
        contains -- $longer ${commands.map(({ path }) => quoteFish(path)).join(' ')}; and set command $longer
    end
  end
  test "$command" = "$argv[1]"
end
complete -c hotel-review -f
${lines.join('\n')}
`;
}

const renderers = { bash: renderBash, zsh: renderZsh, fish: renderFish };

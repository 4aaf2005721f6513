/** `$${`, `${NAME}`, or a `${` that is neither. */
const reference = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g;

export interface Substitution {
  readonly filled: string;
  /** Whether anything in it came, or should have come, from the environment. */
  readonly isFromEnvironment: boolean;
  /** Variables that could not be had, by name. Nothing else of the text stands in them. */
  readonly complaints: readonly string[];
}

/**
 * Fills in `${NAME}`; `$${` is a `${` that stands for itself. What a variable holds is taken as it is: a `${` in it
 * means nothing.
 */
export function substituteVariables(text: string, env: NodeJS.ProcessEnv): Substitution {
  const complaints: string[] = [];
  let isFromEnvironment = false;
  const filled = text.replace(reference, (written: string, name: string | undefined) => {
    if (written === '$${') return '${';
    isFromEnvironment = true;
    const value = name === undefined ? undefined : env[name];
    if (name === undefined) {
      complaints.push(
        `expected \${NAME} with a name of letters, digits and _ (a \${ that means itself is written $\${), got: another form`,
      );
    } else if (!value) {
      const got = value === undefined ? 'nothing' : 'an empty text';
      complaints.push(`expected a value in the environment variable ${name}, got: ${got}`);
    }
    return value ?? '';
  });
  return { filled, isFromEnvironment, complaints };
}

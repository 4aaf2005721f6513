import { execFileSync } from 'node:child_process';

/** The command-line tests start the built command: what they try is what this checkout holds. */
export default function build(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
}

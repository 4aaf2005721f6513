import { execFileSync } from 'node:child_process';

/** The command-line tests start the built command: what they try is what this checkout holds. */
export default function build(): void {
  execFileSync('npx', ['tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
}

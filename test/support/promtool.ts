import { spawnSync } from 'node:child_process';

/** What is missing here to check what Prometheus reads. */
export const promtoolNeeds =
  spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status === 0
    ? undefined
    : 'needs promtool: apt-get install prometheus';

/** Debian's promtool, in this folder. */
export function promtool(args: readonly string[], { cwd, input }: { cwd?: string; input?: string } = {}) {
  const { status, stdout, stderr } = spawnSync('promtool', args, {
    encoding: 'utf8',
    ...(cwd !== undefined && { cwd }),
    ...(input !== undefined && { input }),
  });
  return { status, text: `${stdout}${stderr}` };
}

/**
 * What promtool finds wrong with metrics in the text format. Leaves out its remarks on calendar
 * days, which are not a duration and so have no base unit.
 */
export function checkMetrics(text: string): readonly string[] {
  const ours = text
    .split(/^(?=# HELP )/m)
    .filter((metric) => metric.startsWith('# HELP hotel_review_'))
    .join('');
  const { status, text: remarks } = promtool(['check', 'metrics'], { input: ours });
  if (status !== 0 && status !== 3) return [`exit ${status}`, remarks];
  return remarks
    .split('\n')
    .filter((line) => line !== '' && !/_age_days use base unit "seconds" instead of "days"$/.test(line));
}

import { spawnSync } from 'node:child_process';
import { argv, env, stderr, stdout } from 'node:process';

/**
 * Asks the registry for known vulnerabilities of the packages in production, and fails if one is of level high or critical. Where
 * the registry gives no report, it says so. That passes, for those who work with a mirror that has none, unless REQUIRE_AUDIT=1.
 *
 * Options go to `npm audit`, for example --registry=https://registry.example.com.
 */
const { stdout: text } = spawnSync('npm', ['audit', '--omit=dev', '--json', ...argv.slice(2)], {
  encoding: 'utf8',
  maxBuffer: 2 ** 28,
});
const report = parse(text);
if (report?.vulnerabilities === undefined || report.metadata === undefined) {
  stdout.write(`Vulnerabilities are unknown: ${report?.message ?? 'npm audit gave no report'}\n`);
  if (env.REQUIRE_AUDIT === '1') {
    stderr.write('REQUIRE_AUDIT=1: name a registry that gives an audit report with --registry=URL\n');
    process.exitCode = 1;
  }
} else {
  const { total, high, critical } = report.metadata.vulnerabilities;
  stdout.write(
    `Known vulnerabilities in production: ${total}, of which high or critical: ${high + critical}\n`,
  );
  const grave = Object.values(report.vulnerabilities).filter(({ severity }) =>
    /^(?:high|critical)$/.test(severity),
  );
  for (const { name, severity, range } of grave) stderr.write(`${severity}: ${name} ${range}\n`);
  if (grave.length > 0) process.exitCode = 1;
}

function parse(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

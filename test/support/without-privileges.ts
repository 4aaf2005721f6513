/** To root every place is open: for the length of the work, root is nobody. */
export async function withoutPrivileges<Result>(work: () => Promise<Result> | Result): Promise<Result> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

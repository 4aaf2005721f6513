/**
 * What a server, or the way to it, said in refusal. A server that doesn't know a command quotes what came with it: of
 * AUTH that is the password.
 */
export function describeRefusal({ message }: Error): string {
  return message.replace(/,? with args beginning with.*$/is, '');
}

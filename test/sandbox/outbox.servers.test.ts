import { execFileSync, spawnSync } from 'node:child_process';
import { describeReadEmails, type EmailReader } from './outbox-emails.js';

const script = `
import email, email.policy, json, sys
with open(sys.argv[1], 'rb') as file:
    message = email.message_from_binary_file(file, policy=email.policy.default)
assert not message.defects, message.defects
assert message.get_content_type() == 'text/plain', message.get_content_type()
headers = [(name.lower(), str(value)) for name, value in message.items()]
assert len(headers) == len(dict(headers)), headers
print(json.dumps({'headers': dict(headers), 'text': message.get_content()}))
`;

const pythonEmail: EmailReader = {
  name: "Python's email module",
  needs:
    spawnSync('python3', ['--version']).status === 0 ? undefined : 'needs python3: apt-get install python3',
  read: async (path) => JSON.parse(execFileSync('python3', ['-c', script, path], { encoding: 'utf8' })),
};

describeReadEmails(pythonEmail);

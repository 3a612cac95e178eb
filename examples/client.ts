import { createClient, MailsondeError } from 'mailsonde/client'

const client = createClient({ url: process.argv[2] ?? 'http://127.0.0.1:8080', ...keyOf(process.env.MAILSONDE_KEY) })

// An answer, typed.
const { domain, score, grade, findings } = await client.check({ domain: 'example.org', selector: 's1' })
console.log(`${domain}: ${score} (${grade})`, findings.map(({ id }) => id).join(' '))

// The same in parts: each check as it ends, then the whole.
for await (const one of client.live('check', { domain: 'example.org' })) {
  if (one.event === 'part') console.log('known:', Object.keys(one.data).join(' '))
  else console.log('done:', one.data.status)
}

// Many answers, each as it comes.
for await (const { ip, verdict } of client.blacklistBulk({ ips: ['192.0.2.1', '192.0.2.2'] })) console.log(ip, verdict)

// What the service refuses.
try {
  await client.verify({ email: 'joe@example.org', bind_ip: '192.0.2.99' })
} catch (error) {
  if (!(error instanceof MailsondeError)) throw error
  console.log(error.status, error.code, error.parameter)
}

function keyOf(key: string | undefined): { readonly key?: string } {
  return key === undefined ? {} : { key }
}

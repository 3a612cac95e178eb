import { checkDomain, lookupBlacklists, openWorld, verifyMailbox } from 'mailsonde'

// Several calls in one world: they share its cache and its limits.
const world = await openWorld({ resolvers: process.argv.slice(2) })
try {
  const { score, grade, findings } = await checkDomain('example.org', { world, selectors: ['s1'] })
  console.log(`${score} (${grade})`)
  for (const { severity, title } of findings) console.log(`- ${severity}: ${title}`)

  const { deliverability, reason } = await verifyMailbox('joe@example.org', { world, timeoutMs: 10_000 })
  console.log(deliverability, reason)

  const { verdict, listed, answered } = await lookupBlacklists('192.0.2.1', { world })
  console.log(verdict, `${listed} listed, ${answered} answered`)
} finally {
  await world.close()
}

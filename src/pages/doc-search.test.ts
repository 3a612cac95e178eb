import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { dataTexts } from './doc-data.ts'
import { searchDocs, type Texts } from './doc-search.ts'

const texts: Texts = {
  ...Object.fromEntries(
    readdirSync('docs', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => [name.slice(0, -3), readFileSync(`docs/${name}`, 'utf8')]),
  ),
  ...dataTexts,
}

/** What people type, and a document that must be among the first three sections. */
it.each<[query: string, name: string]>([
  ['office 365', 'providers/microsoft365'],
  ['O365 dkim', 'providers/microsoft365'],
  ['google workspace', 'providers/google'],
  ['gsuite spf', 'providers/google'],
  ['mailchimp', 'providers/mailchimp'],
  ['my mail lands in spam', 'symptoms/spam'],
  ['junk folder', 'symptoms/spam'],
  ['550 5.7.515', 'symptoms/550-5-7-515'],
  ['gmail unauthenticated', 'symptoms/550-5-7-26'],
  ['why did this bounce', 'symptoms/bounced'],
  ['dkim fails mailing list', 'symptoms/mailing-list'],
  ['too many lookups', 'symptoms/too-many-lookups'],
  ['p=reject', 'symptoms/p-reject'],
  ['port 25', 'symptoms/port-25'],
  ['blacklisted', 'symptoms/listed'],
  ['watch 50 domains', 'symptoms/watch-domains'],
  ['spoofing', 'symptoms/spoofed'],
  ['reverse dns', 'checks/ptr'],
  ['what is dmarc', 'checks/dmarc'],
  ['mta-sts', 'checks/mta-sts'],
  ['tls reports', 'reports'],
  ['api key', 'operations'],
  ['docker', 'install'],
  ['nginx', 'install'],
  ['verify a webhook', 'webhooks'],
  ['python webhook', 'webhooks'],
  ['catch all', 'verification'],
  ['claude', 'assistants'],
  ['grade', 'score'],
  ['prometheus', 'automation'],
  ['mxtoolbox', 'coming-from'],
  ['csv upload', 'jobs'],
  ['how to set up dkim for office 365', 'providers/microsoft365'],
  ['catch-all address', 'verification'],
  ['mailchimp dmarc not aligned', 'providers/mailchimp'],
  ['fail ci when dns drifts', 'automation'],
  ['ignore a finding', 'monitors'],
  ['domain that never sends mail', 'symptoms/parked'],
  ['delete stored data gdpr', 'jobs'],
  ['use with claude', 'assistants'],
  ['is my ip on spamhaus', 'blacklists'],
  ['certificate expired on mail server', 'checks/starttls'],
  ['terraform cloudflare', 'plan'],
  ['upgrade to a new version', 'operations'],
  ['xlsx', 'jobs'],
  ['slack notifications', 'monitors'],
  ['429 too many requests', 'errors'],
  ['rotate source ips proxy', 'operations'],
  ['mute at night', 'monitors'],
  ['badge for website', 'monitors'],
  ['log in to web page', 'operations'],
  ['revoke key', 'operations'],
  ['new domain records', 'plan'],
  ['exit code of the command', 'automation'],
  ['several nodes postgres', 'operations'],
])('%s finds %s', (query, name) => {
  const first = searchDocs(texts, query).slice(0, 3)
  expect(first.map((one) => one.name)).toContain(name)
})

it('an excerpt is a sentence in which what was looked for is marked, and nothing is markup', () => {
  const [one] = searchDocs(
    { a: '# A\n\n- A first sentence that says little.\n- The `softfail`, of <b>SPF</b>, is meant.' },
    'softfail',
  )
  expect(one!.excerpt.safe).toBe('The <mark>softfail</mark>, of &lt;b&gt;SPF&lt;/b&gt;, is meant.')
})

it('words that say nothing are left out, and a query of these alone is taken as it is', () => {
  expect(searchDocs(texts, 'how do I the').length).toBeGreaterThan(0)
  expect(searchDocs(texts, '')).toEqual([])
  expect(searchDocs(texts, 'xyzzyq')).toEqual([])
})

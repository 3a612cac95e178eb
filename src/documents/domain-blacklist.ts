import type { DomainBlacklistAnswer } from '../answers/blacklist.ts'
import { type Conclusion, type Document, heading } from './block.ts'
import { footerOf } from './footer.ts'
import { combinedGrid, listingBlocks } from './listings.ts'

const VERDICTS: Readonly<Record<DomainBlacklistAnswer['verdict'], Pick<Conclusion, 'mark' | 'badge'>>> = {
  clean: { mark: 'good', badge: 'clean' },
  listed: { mark: 'bad', badge: 'listed' },
  incomplete: { mark: 'open', badge: 'incomplete' },
}

/** Where a domain stands on the lists of domains. */
export function domainBlacklistDocument(answer: DomainBlacklistAnswer, version: string): Document {
  const { domain, verdict, listed, answered, total } = answer
  const words = {
    clean: `The domain is on none of the ${total} lists.`,
    listed: `The domain is on ${listed} of ${total} lists.`,
    incomplete: `The domain is on no list that answered; ${answered} of ${total} did.`,
  }[verdict]
  return {
    title: `Lists of domains: ${domain}`,
    blocks: [
      { kind: 'conclusion', conclusion: { subject: domain, ...VERDICTS[verdict], words, notes: [] } },
      heading(2, 'All lists', 'lists'),
      ...combinedGrid('Lists of domains', [answer]),
      heading(2, 'Listings', 'listings'),
      ...listingBlocks(answer, 3),
    ],
    footer: footerOf(version, answer.observed_at),
  }
}

import { dkimAnswer } from '../answers/questions.ts'
import type { Outcome } from '../checks/check.ts'
import {
  dkim as check,
  judgeSelector,
  lookupSelector,
  presentSelector,
  type SelectorFacts,
} from '../checks/dkim/index.ts'
import { presentFinding } from '../checks/present.ts'
import { remembering } from '../checks/repeatable.ts'
import { dkimDocument } from '../documents/dkim.ts'
import type { Domain } from '../names/domain.ts'
import { DnsError } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'
import { defineOperation, ok } from './operation.ts'
import { domainParam, positional, selectorParam, timeoutParam } from './params.ts'

/** One DKIM key: the content of its record, and whether receivers can verify mail with it (RFC 6376 §3.6.1). */
export const dkim = defineOperation({
  name: 'dkim',
  method: 'GET',
  path: '/v1/dkim',
  summary: 'Show the DKIM key of a domain at a selector',
  scope: 'read',
  params: {
    domain: positional(domainParam('signing domain: the d= tag of a signature')),
    selector: selectorParam,
    timeout: timeoutParam('time limit of the query'),
  },
  answer: dkimAnswer,
  document: dkimDocument,
  example: {
    input: { domain: 'example.org', selector: 'ed' },
    output: {
      domain: 'example.org',
      selector: 'ed',
      name: 'ed._domainkey.example.org',
      valid: true,
      status: 'pass',
      record: 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
      records: ['v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='],
      key_type: 'ed25519',
      key_bits: 256,
      revoked: false,
      testing: false,
      services: ['*'],
      hashes: [],
      cname: [],
      findings: [],
    },
  },
  uses: [],
  run: async (ctx, _deps, { domain, selector }) => {
    const outcome = await outcomeOf(remembering(ctx), domain, selector)
    const { valid, ...fields } = presentSelector(outcome)
    return ok({
      domain,
      selector,
      name: `${selector}._domainkey.${domain}`,
      valid,
      status: outcome.status,
      ...(outcome.status === 'unknown' ? { reason: outcome.reason.text } : {}),
      ...fields,
      findings: outcome.findings.map((found) => presentFinding(check.table, found)),
    })
  },
  verdict: (answer) =>
    answer.valid || answer.status === 'not_applicable' ? 'good' : answer.status === 'unknown' ? 'unclear' : 'bad',
})

async function outcomeOf(ctx: Ctx, domain: Domain, selector: string): Promise<Outcome<SelectorFacts>> {
  try {
    const { answer, key } = await lookupSelector(ctx, domain, selector)
    return judgeSelector({ selector, answer, ...(key ? { key } : {}) })
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
    return { status: 'unknown', reason: error.problem, findings: [] }
  }
}

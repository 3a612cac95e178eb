import type { Outcome } from '../checks/check.ts'
import { type DkimFacts, judgeDkim } from '../checks/dkim/index.ts'
import { judgeMx, type MxFacts } from '../checks/mx/index.ts'
import { judgePtr, type PtrFacts } from '../checks/ptr/index.ts'
import type { SpfFacts } from '../checks/spf/index.ts'

type Judged = { readonly dkim: Outcome<DkimFacts>; readonly mx: Outcome<MxFacts>; readonly ptr: Outcome<PtrFacts> }

/**
 * DKIM, MX and PTR judged again with what SPF says: a domain that declares that it sends no mail is not called broken for having no mail host, and one that takes none
 * either owes no key.
 */
export function judgedWithSpf<T extends Judged & { readonly spf: Outcome<SpfFacts> }>(outcomes: T): T {
  const { spf, dkim, mx, ptr } = outcomes
  if (!spf.facts?.reading?.declaredNonSender) return outcomes
  const context = { sendsNoMail: true }
  const mail = mx.facts?.mail
  const declaresNoMail = mail?.kind === 'null' || (mail?.kind === 'none' && mail.exists)
  return {
    ...outcomes,
    dkim: dkim.facts ? judgeDkim(dkim.facts, { declaresNoMail }) : dkim,
    mx: mx.facts ? judgeMx(mx.facts, context) : mx,
    ptr: ptr.facts ? judgePtr(ptr.facts, context) : ptr,
  }
}

import type { Outcome } from '../checks/check.ts'
import { judgeMx, type MxFacts } from '../checks/mx/index.ts'
import { judgePtr, type PtrFacts } from '../checks/ptr/index.ts'
import type { SpfFacts } from '../checks/spf/index.ts'

type Judged = { readonly mx: Outcome<MxFacts>; readonly ptr: Outcome<PtrFacts> }

/** MX and PTR judged again with what SPF says: a domain that declares that it sends no mail is not called broken for having no mail host. */
export function judgedWithSpf(spf: Outcome<SpfFacts>, { mx, ptr }: Judged): Judged {
  if (!spf.facts?.reading?.declaredNonSender) return { mx, ptr }
  const context = { sendsNoMail: true }
  return {
    mx: mx.facts ? judgeMx(mx.facts, context) : mx,
    ptr: ptr.facts ? judgePtr(ptr.facts, context) : ptr,
  }
}

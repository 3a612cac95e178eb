import type { SoaFields } from '../../answers/checks.ts'
import { printable } from '../../base/text.ts'
import { defineCheck } from '../check.ts'
import { findings } from './findings.ts'
import { contactOf, judgeSoa } from './judge.ts'
import { lookupSoa, type SoaFacts } from './lookup.ts'

export type { SoaFacts } from './lookup.ts'

export const soa = defineCheck<SoaFacts, SoaFields>({
  specs: ['RFC 2308', 'RFC 1912', 'RFC 1035'],
  table: findings,
  lookup: lookupSoa,
  judge: judgeSoa,
  present: ({ facts }) => {
    const record = facts?.soa
    if (!record) return {}
    const { mname, rname, serial, refresh, retry, expire, minimum } = record
    const contact = printable(contactOf(rname) ?? rname, 255)
    return { primary: printable(mname, 255), contact, serial, refresh, retry, expire, minimum, zone: facts?.zone }
  },
})

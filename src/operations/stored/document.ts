import { blacklistAnswer } from '../../answers/blacklist.ts'
import { checkAnswer } from '../../answers/check.ts'
import { readOpen } from '../../answers/read-answer.ts'
import { reportAnswer } from '../../answers/report.ts'
import type { StoredAnswer } from '../../answers/stored.ts'
import { verifyAnswer } from '../../answers/verify.ts'
import { whatIfAnswer } from '../../answers/what-if.ts'
import { blacklistDocument } from '../../documents/blacklist.ts'
import type { Block, Document } from '../../documents/block.ts'
import { checkDocument } from '../../documents/check/check-document.ts'
import { plainDocument } from '../../documents/plain.ts'
import { verifyDocument } from '../../documents/verify.ts'
import { whatIfDocument } from '../../documents/what-if.ts'

/** A stored answer as a document: that of its kind, with its date. An answer of an earlier version without all present fields is shown as a plain list. */
export function storedDocument(answer: StoredAnswer, version: string): Document {
  const document = documentOf(answer, version)
  const [first, ...rest] = document.blocks
  const date: Block = {
    kind: 'text',
    quiet: true,
    line: [
      'Stored answer of ',
      { time: answer.saved_at },
      '; it expires at ',
      { time: answer.expires_at },
      '. It shows the state at that time.',
    ],
  }
  return { ...document, blocks: [...(first ? [first] : []), date, ...rest] }
}

function documentOf(answer: StoredAnswer, version: string): Document {
  if (answer.kind === 'verify') {
    const read = readOpen(verifyAnswer, answer)
    if (read.ok) return verifyDocument(read.value, version)
  } else if (answer.kind === 'blacklist') {
    const read = readOpen(blacklistAnswer, answer)
    if (read.ok) return blacklistDocument(read.value, version)
  } else if (answer.kind === 'what-if') {
    const read = readOpen(whatIfAnswer, answer)
    if (read.ok) return whatIfDocument(read.value, version)
  } else {
    const read = readOpen(answer.kind === 'report' ? reportAnswer : checkAnswer, answer)
    if (read.ok) return checkDocument(read.value, version)
  }
  return plainDocument('Stored answer', answer, version)
}

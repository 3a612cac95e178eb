const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Longest requested delay that is used. */
export const LONGEST_RETRY_MS = 24 * HOUR

const WORDS =
  'in|for|after|within|wait|least|retry|again|back|delayed?|dans|in|nach|warten|en|tra|em|apos|через|espere|attendre|ca|approx'
const CLOCK = new RegExp(`(?:^|[\\s(])(?:${WORDS})[\\s:=]{1,3}(\\d{1,2}):(\\d{2}):(\\d{2})(?!\\d)`)
const UNIT =
  '(?:(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|sekunden?|minuten?|stunden?|secondes?|heures?|segundos?|minutos?|horas?|secondi|minuti|or[ae]|godzin\\S?|minut\\S?|uur|minuten|секунд\\S{0,2}|минут\\S{0,2}|час\\S{0,2})(?!\\p{L})|秒|分钟?|分鐘|小时|小時|時間)'
const LONG_UNIT = new RegExp(
  `(?<![\\d.,:]|per |last |every |past )(?<!\\p{L})(\\d{1,6}(?:\\.\\d{1,3})?) {0,2}(${UNIT})`,
  'u',
)
const SHORT_UNIT = new RegExp(`(?:^|[\\s(])(?:${WORDS})[\\s:=]{1,3}(\\d{1,6}) ?(s|m|h)(?![\\p{L}\\d])`, 'u')
const BARE = /\b(?:retry(?:.?(?:after|time|in))?|wait)[=:] ?(\d{1,6})\b/

/** Numbers in words, with their values; articles only behind a word of waiting. */
const NUMBERS: readonly (readonly [value: number, words: string])[] = [
  [0.25, 'a quarter of an'],
  [0.5, 'half an|einer halben|une demi-?|media|mezz|meia|pol'],
  [1, 'one|einer|une|una|uma|jedn[aą]|een|(?<=(?:in|after|within|wait|for|at least) )an?'],
  [2, 'two|zwei|deux|dos|due|duas|dwie|twee|два|две'],
  [3, 'three|drei|trois|tres|tre|trzy|drie|три'],
  [5, 'five|funf|fünf|cinq|cinco|cinque|piec|pięć|vijf|пять'],
  [10, 'ten|zehn|dix|diez|dieci|dez|dziesiec|dziesięć|tien|десять'],
  [15, 'fifteen|fünfzehn|quinze|quince|quindici|пятнадцать'],
  [20, 'twenty|zwanzig|vingt|veinte|venti|vinte|двадцать'],
  [30, 'thirty|drei(?:ss|ß)ig|trente|treinta|trenta|trinta|тридцать'],
]
const IN_WORDS = NUMBERS.map(
  ([value, words]) => [String(value), new RegExp(`(?<![\\p{L}\\d])(?:${words})[ -]?(?=${UNIT})`, 'gu')] as const,
)

/**
 * The delay that a temporary reply requests ("5 minutes", "00:05:00", "60 seconds", "in one hour", "try again in 300s"), in ms: more
 * than 0, at most 24 hours. Undefined if the text names none. Reads the first 4 KiB.
 */
export function retryAfter(text: string): number | undefined {
  const said = IN_WORDS.reduce(
    (read, [value, words]) => read.replace(words, `${value} `),
    text.slice(0, 4_096).toLowerCase(),
  )
  const clock = CLOCK.exec(said)
  if (clock) return bounded(Number(clock[1]) * HOUR + Number(clock[2]) * MINUTE + Number(clock[3]) * SECOND)
  const counted = LONG_UNIT.exec(said) ?? SHORT_UNIT.exec(said)
  if (counted) return bounded(Number(counted[1]) * unitMs(counted[2]!))
  const bare = BARE.exec(said)
  return bare ? bounded(Number(bare[1]) * SECOND) : undefined
}

function unitMs(unit: string): number {
  if (/^(?:s|сек|秒)/.test(unit)) return unit.startsWith('st') ? HOUR : SECOND
  if (/^(?:m|мин|分)/.test(unit)) return MINUTE
  return /^d/.test(unit) ? 24 * HOUR : HOUR
}

const bounded = (ms: number): number | undefined => (ms > 0 ? Math.min(ms, LONGEST_RETRY_MS) : undefined)

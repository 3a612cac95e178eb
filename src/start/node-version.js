/** The oldest version that the program runs on (`engines` of package.json). */
const OLDEST = { major: 22, minor: 19 }

/**
 * The message on a version of Node.js that is too old; undefined otherwise.
 * @param {string} version
 * @returns {string | undefined}
 */
export function tooOld(version) {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return undefined
  return `mailsonde needs Node.js ${OLDEST.major}.${OLDEST.minor} or later; this is ${version}`
}

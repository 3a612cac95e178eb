/** What introduces advice to the reader, in place of a cause. */
const ADVICE = new RegExp(
  `^(?:[\\W\\d_]|US-IP|US|IP|DOMAIN){0,40}(?:${[
    '(?:please|kindly) ',
    '(?:if|in case|unless|when you|repeated|further|continued) ',
    '(?:this|our|the) (?:mail )?(?:server|host|system|site|domain) (?:uses?|employs?|runs?)\\b',
    'we (?:use|employ) ',
    '(?:in order )?to (?:be |get |have |request|ask|learn|remove|find|resolve|delist|prevent|reduce)',
    '(?:you (?:may|can|should|could) )?(?:ask|contact|visit|see|check|refer|consult|direct|turn on|go to|read|learn|report|forward) ',
    'for (?:more|further|details|help|explanation|information|assistance|instructions)\\b',
    'more (?:info|at|details)|perhaps |maybe |try ',
    '(?:falls|wenn|sollten sie|bitte|wiederholte|fragen sie|wenden sie|fur weitere|um )\\b',
    "(?:si (?:vous|le|la|c'est|usted|su|tu|el|no)|veuillez|merci|en cas|pour (?:plus|toute|en savoir|etre)|demandez|contactez)\\b",
    '(?:por favor|para (?:mas|mayor|ser|que|obter|mais)|consulte|contacte|pregunte|en caso|em caso|caso |se (?:voce|o|a|il|lei|ritieni|pensi)|si prega|per (?:maggiori|ulteriori|favore|essere)|contatt\\w{1,4})\\b',
    '(?:jesli|jezeli|prosimy|prosze|skontaktuj|als (?:u|de|het)|neem contact|gelieve|vraag|om (?:u|van)|pokud|prosim|kontaktujte|eger|lutfen|om du|kontakta|hvis)\\b',
    'если|пожалуйста|обратитесь|повторн|для |якщо|будь ласка|如果|如有|请|請|若|もし|ご不明|詳細|詳しくは|문의|자세한',
  ].join('|')})`,
  'u',
)
const BREAK =
  /(?<!\.\.)(?<=[.!?;。！；])\s+|(?<=[。！；])|\s[-–—]{1,2}\s|\s(?=(?:if|falls|wenn|jesli|jezeli|если|якщо) )|(?<=[\p{Ll}\p{Lo}]),\s/u

/** Brackets that tell whose address is meant. */
const OF_SENDER = /\b(?:sender|return.?path|reverse.?path|mail from|from address|envelope)\b/

/** A sentence or an aside that only tells who we are. */
const WHO_SENT =
  /^[^\p{L}]*(?:(?:envelope |mail )?(?:sender|from|return.?path|client|connection|connected|ip|host|by|via)(?: from| host| ip| address| is| was)*[\s:=]{1,3})?<?US(?:-IP)?\b>?(?: ?\[(?:US-)?IP\])?[^\p{L}]*$/u
/** A reply without what stands in brackets and only tells who we are. */
export const withoutAsides = (marked: string): string =>
  marked.replace(/ ?\(([^()]* [^()]*)\)/g, (aside, words: string) => (WHO_SENT.test(words) ? '' : aside))
/** Our address in brackets at the end of a sentence. */
const AT_THE_END = /\s*[[(]<?US(?:-IP)?>?[\])]\W{0,4}$/
/** A sentence without our name at its end, which decides nothing there. */
export const withoutEnd = (sentence: string): string => sentence.replace(AT_THE_END, '')

/** What holds only under a condition. */
const CONDITIONAL =
  /^\W*(?:if|in case|unless|falls|wenn|sollten|si|en caso|em caso|caso|se|als|jesli|jezeli|pokud|eger)\b|^\W*(?:если|якщо|如果|若|もし)/u
export const isConditional = (sentence: string): boolean => CONDITIONAL.test(sentence)

/** A name at the begin of what is said, with its cause in brackets. */
const NAME_THEN_ASIDE =
  /(?<=(?:^|[:："”,]|- |\d\d)(?:[^\p{L}]|US|IP){0,16})((?:US-IP|US|ASKED)\b[>"']{0,2}(?: ?[([](?:US-)?IP[)\]])?:?) ?\(([^()]* [^()]*)\)/gu

export type Sentence = { readonly text: string; readonly isAdvice: boolean }

/**
 * The sentences of a marked text, in order. What stands in brackets or behind a comma, a dash or "if" is one of its
 * own; a name in front of a comma begins the next one. Links to a list are no advice: they say that an address is listed.
 */
export const sentencesOf = (marked: string): readonly Sentence[] =>
  marked
    .replace(/^\[([^[\]]* [^[\]]*)\]$/, '$1')
    .replace(NAME_THEN_ASIDE, '$1 $2')
    .replace(/(?<=\b(?:US-IP|US|ASKED|DOMAIN)>?)\?(?=\s)/g, '')
    .replace(/ ?\(([^()]* [^()]*)\)/g, (aside, words: string) => (OF_SENDER.test(words) ? aside : `; ${words}; `))
    .replace(/ ?\[([^[\]]*\p{Ll}{2}[^[\]]* [^[\]]*|[^[\]]* [^[\]]*\p{Ll}{2}[^[\]]*)\]/gu, '; $1; ')
    .split(BREAK)
    .filter((text) => /\p{L}/u.test(text) && !WHO_SENT.test(text))
    .map((text) => ({ text, isAdvice: ADVICE.test(text) && !text.includes('DNSBL') }))

/** A server called back about our sender: whatever it was told, it refuses us. */
export const SENDER_CALLOUT =
  /\bsender (?:address )?(?:verif|validat|call)\w*|\bverif\w* (?:of |the |your ){0,2}sender\b|\bcall(?:back|out) (?:setup )?(?:failed|rejected|verification failed)?.{0,60}\bUS\b|\bcall(?:back|out) (?:to|of|for) (?:the |your )?sender|\bcallback setup\b|\bcalled back\b|\bour call-?back\b|\bruckruf\b|\b(?:sender-?)?ruckfrage\b|\bfailed while verifying\b|\bverification failed for (?:<US|US|<>)|\bsender address rejected: (?:undeliverable|unverified) address: (?:host|connect)/
/** A server asked another one about the recipient. */
export const RECIPIENT_CALLOUT =
  /\bcould not complete recipient verif\w*(?: callout)?(?: for)?|\brecipient (?:address )?(?:verif\w*|call(?:out|back))(?: callout| verif\w*)?:? ?(?:failed|failure|fail|rejected)\b:?|\bcall(?:back|out) verification(?: failed| failure)?:?|\bundeliverable address: host .{0,300}? said:?/g
/** A temporary reply inside of a callout. */
export const NESTED_TEMPORARY = /(?:^|[^\w.])4\d\d[ -]|(?<![\d.])4\.\d{1,3}\.\d{1,3}(?![\d.])/
const PHRASE = [
  'US-IP|US|IP|ASKED|DOMAIN|error|sorry|rejected|denied|refused|permanent failure|invalid mailbox|unknown address error',
  'requested (?:mail )?action (?:not taken|aborted)|(?:please )?try (?:it )?again(?: later)?|(?:message )?(?:was )?not accepted|mailbox (?:is )?unavailable',
  '(?:command )?(?:rcpt )?(?:user|recipient|mailbox)(?: ASKED)? not ok',
  '(?:the )?(?:service|system) (?:is )?(?:currently |temporarily )?(?:unavailable|not available)',
  '(?:this |the |your )?(?:message|(?:junk)?mail|e-?mail|recipient address|recipient|address|transaction|request|connection|command|access|delivery)(?: (?:was|is|has been))? (?:rejected|refused|denied|failed|blocked|not accepted|not authori[sz]ed)',
  'temporar(?:y|ily)(?: local| system| server)? (?:failure|problem|error|rejected|deferred|unavailable)',
  '(?:local )?policy(?: violation| rejection| restrictions?)?|not authori[sz]ed|administrative prohibition',
].join('|')
const OPENING = new RegExp(`^ ?(?:(?:${PHRASE})(?: |$))+$`)
/** Whether a sentence has only words that open a refusal and state no cause. */
export const isOpening = (sentence: string): boolean => OPENING.test(sentence.replace(/[^\p{L}-]+/gu, ' '))

/** A mark of ours in square brackets at the begin of a sentence that is about it. */
const BRACKETED_SUBJECT =
  /(?<=(?:^|[:："\]>])[^\p{L}]{0,30})\[(US(?:-IP)?)\](?=: | (?:is|was|has|does|do|could|cannot|can't|not|no longer|never|unknown|rejected|refused)\b)/u

/** A mark of ours in brackets, behind the word of a client, or as a client's name with its address. */
const ASIDE =
  /[([]<?US(?:-IP)?\b(?!:)[^()[\]]{0,80}[)\]]|US \[(?:US-)?IP\]|(?<!\b(?:postfach|konto|mailbox|adresse|casella|account|indirizzo|postvak|postbus) )\b(?:from|by|client|connections?|via|through|(?<=[\p{L}\d)\]>]\s)(?<!\b(?:the|your|la|l'|su|tu|sua|seu|votre|ihre|deine|il)\s)ip|helo|ehlo|host ?name|von|durch|desde|par|por|da|di|od|od|van|fran|fra)\b(?: (?:the|your|this|our|host|ip|address|server|client|domain|name)){0,3}[\s:=<[(]{1,3}US(?:-IP)?\b|(?:(?<!\p{L})(?:от|с|из)|から|来自)\s?<?US(?:-IP)?\b/gu
/** A relay sentence names the client. */
const CLIENT_RELAY =
  /\b(?:permitted|allowed|authori[sz]ed|authenticated|able) to relay\b|not (?:be )?relay(?:ed|ing)?\b|\brelay(?:ing)? (?:is )?(?:not (?:permitted|allowed|authori[sz]ed)|denied|prohibited) from (?:your|this)\b/

const CALLER = '(?:envelope|original|originating|connecting|remote|client|sending|peer|submitting|calling|source)'
/**
 * What a host or an address of ours is called without its name: "your" with a word for a mailbox, an account or a
 * domain.
 */
const OURS = new RegExp(
  [
    "\\b(?:your|the sending|the sender's) (?:(?!to |for |at |of |message )[a-z'-]{1,16} ){0,2}(?:address(?! book)|domain|mailbox|account|user|member|customer|subscriber|storage|quota|provider|isp|host|machine|network)\\b",
    "\\bin the sending domain\\b|\\bdomain you (?:send|sent|are sending) from\\b|\\bsender(?:'s)? (?:e-?mail )?(?:mailbox|account)\\b|\\byou are not in the list\\b|\\byou (?:claim|pretend)\\b",
    "\\b(?:(?:peer|source|origin(?:ating)?|envelope|return|bounce|author'?s?|submitter'?s?|calling|connecting) (?:e-?mail )?|(?:remote|from:?) )(?:address|user|account|mailbox)\\b",
    '\\b(?:address|user|account|mailbox|domain|member|subscriber)s? (?:(?:named|given|used|found|stated|seen) )?(?:of|at|in|as|by|behind) (?:the |your |this |that )?(?:peer|origin|sender|author|source|other (?:end|side)|remote (?:end|side|host)|submitter|client|connection|mail from|reply-?to|calling|connecting|message\\b|from\\b)',
    '\\b(?:e-?mail|mail|message)s? from (?:an? )?(?:unknown|non-?exist[ae]nt|invalid|unregistered) (?:user|account|mailbox)\\b|\\b(?:unknown|invalid|not found):? (?:in |for |by |of )?(?:the )?(?:mail from|return.?path|reverse.?path)\\W*$',
    '\\b(?:address|user|account|mailbox|member|subscriber)s? (?:that |which |who )?(?:you (?:use|sen[dt]|connect|wr[io]te from|are (?:connecting|sending))|submitted|sent this|connected|is (?:sending|connecting))\\b(?! to)',
    '(?:^|[:;] ?)(?:\\d\\.\\d\\.\\d{1,3} )?(?:the )?from(?: (?:domain|address|header|field)\\b|: ?<?US\\b>? (?:is|has|was|does|unknown|not|no)\\b)',
    `(?:^|[:;] ?)(?:\\d\\.\\d\\.\\d{1,3} )?(?:the |this |your )?(?:${CALLER} (?:host|server|ip|mta|network)|(?:${CALLER} )?(?:sender|client|author|submitter|originator|peer)|(?<=your )ip(?: address)?)(?: (?:of|for) (?:this|the|your) (?:e-?mail|message|mail))?(?: (?:host|user))? (?:is|has|was|does|could|can|may|must|cannot|not|no longer|no such|no|user|unknown|in|over)\\b`,
    '\\b(?:su|tu|votre) (?:correo|courriel)\\b(?!.{0,30}\\b(?:rechaz|acept|entreg|recib|rejet|refus|accept|delivr|remis))',
    // "Su", "seu", "suo" may be his or hers behind other words.
    '(?:^|[:;] ?)(?:\\d\\.\\d\\.\\d{1,3} )?(?:(?:el|la|il|lo|a|o|os|as) )?(?:su|tu|sua|tua|seu|teu|suo|tuo|vostr[oa]) (?:\\S{1,16} )?(?:cuenta|conta|account|casella|caixa|buzon|casilla|direccion|dominio|endereco|indirizzo|utente)\\b',
    '\\b(?:ihre?[mnrs]?|deine?[mnrs]?|votre|uw|jouw|twoj\\w{0,3}|panstwa|vas[aei]?|tv[ouů]j\\w?|din|ditt|dit(?= dom)|deres|jeres) (?:\\S{1,16}[ -])?(?:(?:e-?)?mail-?|ip-?)?(?:adresse?n?|domaine?|domane|domæne|konto|konta|postfach|compte|boite|messagerie|account|mailbox|adres|domein|domen\\w|domena|skrzynk\\w|ucet|schrank\\w|adresa|racun|nalog|postbus|postvak|doman|domaene|brevlada|postkasse)\\b',
    '\\b(?:su|votre|tu|seu|sua|suo|tuo|vostro) (?:ip-?)?(?:direccion|domaine?|dominio|adresse|endereco|indirizzo)\\b',
    '\\b(?:hesabiniz|hesab[ıi]n[ıi]z|alan ad[ıi]n[ıi]z|posta kutunuz|adresiniz)|\\b(?:osoittee|tili|postilaatikko|verkkotunnukse)si\\b|\\b(?:la |el )?vostr[ea] (?:adreca|compte|domini|bustia)\\b|\\b(?:jusu|teie) (?:adres\\w{0,2}|aadress|kont\\w|domen\\w{0,2})|\\bvas (?:naslov|racun)\\b|(?:نشانی|حساب|دامنه) شما|आपक[ाेी] (?:पता|खाता|डोमेन)',
    '\\b(?:akun|domain|alamat|kotak (?:surat|masuk)) (?:e-?mail )?anda\\b|(?:tai khoan|ten mien|[dđ]ia chi|hop thu) (?:\\S{1,8} )?cua (?:ban|quy khach)',
    '\\b(?:contul|domeniul|adresa|casuta) (?:dvs|dumneavoastra|ta)\\b|\\baz on (?:\\S{1,12} )?(?:fiokja|domainje|postafiokja|cime)',
    'ваш\\S{0,4} (?:ip-?|\\S{1,16} )?(?:адрес|домен|уч[её]тн|аккаунт|ящик|почт|обліков|скриньк)|ваш\\S{0,4} (?:уч[её]тн|почтов)',
    '(?:λογαριασμ\\S{1,3}|δι[εέ][υύ]θυνσ\\S|domain|θυρ[ιί]δα|γραμματοκιβ\\S{2,5}) σας',
    '(?:חשבון|כתובת|תיבת|דומיין)\\S{0,4}(?: \\S{1,10})? של(?:ך|כם)|(?:حساب|عنوان|بريد|نطاق)\\S{0,3}(?:ك|كم)(?= |$)',
    '(?:您|你|贵司|貴公司)的?(?:ip|邮件|邮箱|電子郵件)?(?:地址|域名|账户|帐户|帐号|账号|邮箱|信箱|帳號|網域)',
    '(?:あなた|貴社|お使い|ご利用)の.{0,8}(?:アドレス|ドメイン|アカウント|メールボックス)|お客様の.{0,8}(?:アドレス|ドメイン)|귀하의 ?(?:ip |이메일 |메일 )?(?:주소|도메인|계정|메일함)',
    '(?:บัญชี|โดเมน|กล่องจดหมาย|ที่อยู่)(?:อีเมล)?ของ(?:คุณ|ท่าน)',
  ].join('|'),
  'u',
)

/** The asked mailbox in front of what is said, as Postfix and Sendmail name whom a reply answers. */
const ASKED_FIRST =
  /^[^,;]{0,40}<?ASKED>?(?::|\.\.\.|(?<=\b(?:to|for) <?ASKED>?),| (?=(?:refused|rejected|denied|blocked):)) ?/

/** Our host without its name, in languages whose words for a mailbox may stand behind it. */
const OUR_HOST =
  /\byour (?:e-?mail |mail |smtp )?server\b|\b(?:ihr|dein|euer)(?:e[mnrs]?)? (?:e-?mail-?|mail-?|smtp-?)?(?:server|rechner|host|provider)|\b(?:votre|ton) (?:serveur|machine|hote|fournisseur)|\b(?:su|tu|seu|vosso|teu|vuestro) (?:servidor|maquina|prove(?:ed|d)or)|\b(?:vostro|suo|tuo) (?:mail ?)?(?:server|host|provider)|\b(?:uw|je|jouw) (?:mail-?)?(?:server|provider|host)|\b(?:twoj|twojego|panstwa) serwer|\b(?:vas|tvuj) (?:mail ?)?server|\bsunucunuz|\b(?:din|eder|jeres|deres) (?:e-?post|mail-?)?server|\b(?:a(?:z on)? szervere|serverul (?:dumneavoastra|dvs)|vas posluzitelj)|ваш\S{0,3} (?:почтов\S{2,3} )?сервер|(?:お使い|ご利用|貴社|そちら|あなた|お客様)の.{0,4}サーバ|(?:您|你|贵|貴)(?:的|方的?)?(?:邮件|郵件)?(?:服务器|伺服器)|귀하의 ?(?:메일 ?)?서버/
export function isOurHost(said: string): boolean {
  const sentence = said.replace(ASKED_FIRST, '')
  return !sentence.includes('ASKED') && OUR_HOST.test(sentence)
}

/** Whether the subject of a sentence is one of our names: it stands where the mailbox would. */
export function namesUs(said: string): boolean {
  const sentence = said.replace(ASKED_FIRST, '')
  if (sentence.includes('ASKED') || CLIENT_RELAY.test(sentence)) return false
  if (OURS.test(sentence)) return true
  const rest = sentence.includes('US') ? sentence.replace(BRACKETED_SUBJECT, '$1').replace(ASIDE, '') : ''
  return rest.includes('US') && (/\p{Ll}{2}|\p{Lo}{2}/u.test(rest) || isOurName(rest))
}

/** Words that are about who sends, whatever the code. */
const OF_CONNECTION = /\b(?:tls|ssl|certificate|spf|dkim|dmarc|helo|ehlo|ptr|r?dns|reputation|authenticat\w{1,5})\b/
/** Whether a text is about the connection or its authentication, and not about the asked mailbox. */
export const speaksOfConnection = (marked: string): boolean => !marked.includes('ASKED') && OF_CONNECTION.test(marked)
/** Whether a text is one of our names and nothing else, so that its code is about us. */
export const isOurName = (marked: string): boolean => /\bUS\b/.test(marked) && !/\p{Ll}{2}|\p{Lo}|ASKED/u.test(marked)

/** Whether a text has one of our names outside of brackets, and not the asked mailbox. */
export const speaksOfUs = (marked: string): boolean =>
  !marked.includes('ASKED') && marked.replace(/[([]<?US[^()[\]]{0,80}[)\]]/g, '').includes('US')

/** Too many recipients that do not exist were asked for. */
export const FAILED_RECIPIENTS =
  /\b(?:too many|many|number of) (?:failed|invalid|unknown|bad|non-?existent|wrong|rejected) (?:recipients?|rcpts?|users?|addresses)\b|\b(?:(?:unknown|invalid|failed|bad) (?:recipients?|rcpts?|users?)|user unknown) (?:count|rate|(?:count |rate )?limit)\b|\btoo many (?:\w{1,12} ){0,2}(?:recipients|users|mailboxes|addresses) (?:that |which )?(?:do(?: not|n't) exist|are (?:unknown|invalid))|\btrop de destinataires (?:inconnus|invalides)|\bzu viele (?:unbekannte|ungultige|falsche) empfanger|\bdemasiados destinatarios (?:desconocid|invalid|inexist)/
/** The asked mailbox and what is said of it. */
export const ASKED_UNKNOWN =
  /ASKED(?:(?!US|\byour |\b(?:return|reverse|reply|bounce)\b).){0,60}\b(?:no such (?:user|mailbox|recipient|account)|(?:user|recipient|mailbox) (?:is )?unknown)\b|ASKED\W{0,3}(?:(?:does not|doesn't) exist|(?:is |was )?(?:unknown(?! (?:sender|client|host|return|reverse|envelope|originator|source|helo|ip|network|server)\b)|not (?:known|found)))\b/
/** A refusal whose cause is said behind it. */
export const REFUSED_BECAUSE = /\b(?:rejected|refused|denied|not accepted|not delivered)(?:: | because )/
/** An explicit word about the mailbox, which stands behind a word about relaying, too. */
export const NO_SUCH_USER =
  /\bno such (?:user|mailbox|recipient|account)\b|\b(?:user|recipient|mailbox) (?:is )?unknown\b/

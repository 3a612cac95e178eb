import type { Reason } from '../reasons.ts'
import { type ReplyRow, rows } from './row.ts'

/** The words of one language, as patterns over normalized text. */
type Words = {
  /** What it calls a mailbox, its address or its owner. */
  readonly box: string
  /** Behind such a word: there is none. */
  readonly absent: string
  /** Directly before such a word: there is none. */
  readonly no?: string
  /** Behind or before such a word: it is full. */
  readonly full: string
  /** Behind such a word: it is disabled. */
  readonly off: string
}

const LANGUAGES: Readonly<Record<string, Words>> = {
  French: {
    box: 'adresse|destinataire|utilisateur|compte|boite',
    absent: "inconnue?|n'existe|n existe|invalide|introuvable|inexistante?|non trouve",
    no: "aucune?|n'existe (?:pas|aucun\\w?)(?: d'| de)?",
    full: 'pleine|saturee|remplie|insuffisant',
    off: 'desactiv|suspendu|bloque|verrouill|inactif|inactive|ferme|resili',
  },
  German: {
    box: 'empfaenger\\w{0,9}|empfanger\\w{0,9}|benutzer\\w{0,5}|nutzer|adressat|e-?mail-?adresse|adresse|konto|postfach|mailbox|speicher\\w{0,12}',
    absent:
      'unbekannt|existiert (?:hier )?nicht|nicht (?:gefunden|bekannt|vorhanden|gultig|existent|eingerichtet)|ungultig|nicht mehr (?:verfue?gbar|vergeben|aktuell)|nicht i[mn] .{0,24}(?:verzeichnis|adressbuch)|kennen wir nicht|gibt es (?:\\w{1,8} ){0,2}nicht',
    no: 'unbekannte\\w?|keine?n?(?: solche\\w?)?',
    full: 'voll|uberfullt|ausgelastet|uberschritten|erschopft',
    off: 'gesperrt|deaktiviert|inaktiv|abgeschaltet|geschlossen|stillgelegt|nicht mehr aktiv',
  },
  Spanish: {
    box: 'usuario|destinatario|cuenta|buzon|direccion|casilla|correo',
    absent: 'no existe|desconocid|no encontrad|no se encuentra|inexistente|no (?:es )?valid|invalid',
    no: 'no (?:existe|conocemos)(?: a)? ?(?:el |la |al |ese |esa |tal )?|(?:no hay )?ningun[ao]?',
    full: 'llen[oa]\\b|excedid|superad|agotad|sin espacio',
    off: 'deshabilitad|desactivad|suspendid|expirad|caducad|vencid|inactiv|bloquead|cancelad',
  },
  Italian: {
    box: 'utente|destinatario|destin|casella|indirizzo|account|mailbox|spazio',
    absent: 'sconosciut|errat|inesistente|non esiste|non trovat|non valid|non risulta|non presente',
    no: 'nessuna?',
    full: 'pien[oa]\\b|esaurito',
    off: 'disabilitat|disattivat|sospes|inattiv|bloccat|chius',
  },
  Portuguese: {
    box: 'usuario|utilizador|destinatario|conta|caixa|endereco|mailbox|e-?mail',
    absent: 'nao existe|desconhecid|inexistente|nao encontrad|nao foi encontrad|nao localizad|invalid',
    no: 'nao existe (?:o |a |esse |essa )?|nenhuma?',
    full: 'chei[oa]\\b|lotad[oa]|excedeu\\b.{0,30}\\b(?:espaco|limite)',
    off: 'desativad|desabilitad|suspens|inativ|bloquead|cancelad',
  },
  Dutch: {
    box: 'gebruiker|(?:e-?mail)?adres|ontvanger|postbus|postvak|mailbox|account|geadresseerde',
    absent: 'onbekend|bestaat niet|niet gevonden|ongeldig',
    no: 'onbekende?',
    full: 'vol\\b',
    off: 'geblokkeerd|gedeactiveerd|uitgeschakeld|opgeheven|gesloten|opgezegd',
  },
  Polish: {
    box: 'u[zż]ytkownik\\w{0,2}|adres\\w{0,3}|skrzynk\\w|konto|konta|odbiorc\\w',
    absent: 'nie istnieje|nieznan|nie znaleziono|nieprawid[lł]ow',
    no: 'nieznan\\w{1,2}|nie ma takie\\w{1,2}',
    full: 'pe[lł]n|przepe[lł]nion',
    off: 'zablokowan|nieaktywn|wy[lł][aą]czon',
  },
  'Czech, Slovak': {
    box: 'uzivatel\\w{0,2}|schrank\\w|adresat|prijemc\\w|pouzivatel|ucet|konto',
    absent: 'neexistuj|neznam|nenalezen|nenajden',
    no: 'neexistujici|neznam\\w{1,2}',
    full: 'pln[ae]\\b|preplnen',
    off: 'zablokovan|deaktivovan|zrusen|neaktivn|pozastaven',
  },
  Turkish: {
    box: 'kullan[ıi]c[ıi]|adres|hesa(?:p|b)\\S{0,4}|al[ıi]c[ıi]|posta kutusu|kota',
    absent: 'bulunamad|yok|bilinmiyor|mevcut degil|gecersiz',
    full: 'dolu|dolmus|doldu|as[ıi]ld',
    off: 'devre d[ıi]s[ıi]|ask[ıi]ya al[ıi]n|kapat[ıi]l|kilitl|engellen',
  },
  'Swedish, Danish, Norwegian, Finnish': {
    box: 'anvandar\\w{0,3}|mottagare\\w{0,2}|adressen|brevlad\\S{0,3}|postkass\\S{0,3}|kontot?|bruger\\w{0,3}|bruker\\w{0,3}|modtager\\w{0,3}|mottaker\\w{0,3}|kayttaja\\w{0,2}|vastaanottaja\\w{0,2}',
    absent:
      'okand|finns inte|finns ej|hittades inte|ukendt|ukjent|findes ikke|finnes ikke|eksisterer ikke|tuntematon|ei ole|ei loydy',
    no: 'okand|ukendt|ukjent',
    full: 'full\\b|fuld\\b',
    off: 'sparra[td]|avstang[td]|inaktivera|deaktiver|sperret|spærret|lukket|stengt',
  },
  Greek: {
    box: 'χρ[ηή]στη|παραλ[ηή]πτη|δι[εέ][υύ]θυνση|λογαριασμ|γραμματοκιβ[ωώ]τιο|θυρ[ιί]δα',
    absent: 'δεν (?:υπ[αά]ρχ|βρ[εέ]θηκ)|[αά]γνωστ|ανυπ[αά]ρκτ',
    no: '[αά]γνωστο\\S?',
    full: 'γεμ[αά]τ|πλ[ηή]ρ',
    off: 'απενεργοποι|ανενεργ|κλειδωμ|αναστολ',
  },
  'Russian, Ukrainian, Bulgarian, Serbian': {
    box: 'пользовател|адрес|ящик|получател|аккаунт|уч[её]тн|користувач|скриньк|одержувач|отримувач|обліков|потребител|пощенск|корисник|прималац',
    absent:
      'не существует|не найден|не зарегистрирован|неизвест|отсутству|недейств|не сущ|не існу|не знайдено|невідом|відсутн|не съществува|непознат|не е намерен|не посто[иј]',
    no: 'нет(?: такого)?|так(?:ого|ой)|неизвестн\\S{2,3}',
    full: 'переполнен|заполнен|полон|переповнен|превышен|исчерпан',
    off: 'заблокирован|отключ[её]н|неактив|приостановлен|деактивирован|заблокован|вимкнен|деактивован',
  },
  Japanese: {
    box: 'ユーザ|宛先|メールボックス|アドレス|受信者|受信箱|アカウント|あて先|容量',
    absent:
      '存在しません|存在しない|存在致しません|見つかりません|見つからない|不明|ありません|登録されていません|(?<![てで])(?:いません|おりません)',
    full: '一杯|いっぱい|満杯|超過|超え|オーバー|上限に達し',
    off: '停止|無効|凍結',
  },
  Chinese: {
    box: '用户|用戶|收件人|邮箱|信箱|帐号|账号|帳號|地址|郵箱|账户|帐户|使用者|收信人|此人|空间|容量',
    absent: '不存在|未找到|无效|無效|有误|錯誤|错误|不正确|找不到|没有找到',
    no: '(?:不存在|没有|沒有|查无|查無|无|無)(?:该|此|的|这个|這個|該)?',
    full: '已满|满了|已滿|爆满|不足|超限|超出|超过',
    off: '禁用|停用|冻结|锁定|注销|凍結|封禁|鎖定',
  },
  Korean: {
    box: '사용자|수신자|메일함|계정|주소|받는 ?사람|수신인',
    absent: '없습니다|존재하지|찾을 수 없|없음|없는',
    no: '존재하지 않는',
    full: '가득|초과',
    off: '정지|중지|비활성|해지|휴면|잠겨|잠김',
  },
  'Arabic, Hebrew, Persian': {
    box: 'المستخدم|العنوان|الحساب|صندوق|المستلم|البريد|משתמש|כתובת|תיבה|תיבת|נמען|חשבון|کاربر|نشانی|گیرنده|حساب',
    absent:
      'غير موجود|غير معروف|لا يوجد|غير صالح|לא קי|לא נמצא|לא מוכר|לא ידוע|אינ\\S{1,2} קי|وجود ندارد|یافت نشد|نامعتبر',
    no: 'لا يوجد',
    full: 'ممتلئ|ممتلئة|מלאה',
    off: 'معطل|موقوف|مغلق|معلق|חסום|מושבת|סגור|נעול|מושע',
  },
  'Vietnamese, Indonesian, Thai': {
    box: 'nguoi dung|nguoi nhan|[dđ]ia chi|hop thu|hộp thư|tai khoan|pengguna|penerima|alamat|akun|kotak (?:surat|masuk)|ผู้ใช้|ผู้รับ|ที่อยู่|บัญชี|กล่องจดหมาย',
    absent: 'khong (?:ton tai|tim thay|hop le|co)|tidak (?:ditemukan|ada|dikenal|terdaftar|wujud|sah)|ไม่มี|ไม่พบ|ไม่ถูกต้อง',
    no: 'khong (?:ton tai|tim thay)|ไม่พบ|ไม่มี',
    full: 'đay|day\\b|penuh|เต็ม',
    off: 'bi khoa|vo hieu|ngung hoat|dinonaktifkan|ditangguhkan|diblokir|tidak aktif',
  },
  'Hungarian, Romanian, South Slavic, Baltic': {
    box: 'felhasznalo|cimzett|postafiok|fiok|e-?mail ?cim|utilizator\\w{0,3}|destinatar\\w{0,3}|adresa|cont\\w{0,2}|casuta|korisni[ck]\\w?|primatelj|primalac|racun|uporabnik|prejemnik|naslov|kasutaja|lietotaj\\w|vartotoj\\w{1,2}|saaja|adresats',
    absent:
      'nem letezik|ismeretlen|nem talalhato|ervenytelen|nu exista|necunoscut|inexistent|nu a fost gasit|invalida|ne postoji|nepoznat|ne obstaja|neznan|nije prona|ei ole olemas|puudub|neeksiste|nerasta|neegzistuoja|tundmatu|nezinam|nezinom',
    no: 'ismeretlen|nincs ilyen',
    full: 'megtelt|tele\\b|plin[ae]?\\b|pun\\b',
    off: 'letiltva|felfuggesztve|inaktiv|zarolva|dezactivat|suspendat|blocat',
  },
}

/** One pattern of all languages. Words in Latin letters begin at a boundary; others have shorter gaps. */
const inAll = (write: (words: Words, gap: string) => string): RegExp =>
  new RegExp(
    Object.values(LANGUAGES)
      .map((words) =>
        /^[a-z]/.test(words.box)
          ? `\\b(?<!\\bip[ -])(?:${write(words, '.{0,50}')})`
          : `(?<!ip[ -]?)(?:${write(words, '.{0,24}')})`,
      )
      .join('|'),
    'u',
  )
/** Not an address of a network. */
const BOX_ONLY = '(?! ip)'

const row = (reason: Reason, pattern: RegExp, codes: ReplyRow['codes'], reply: string): ReplyRow =>
  rows('recipient', codes)(reason, pattern, 'hosts in other languages', reply)

export const FULL_ABROAD = row(
  'mailbox_full',
  inAll(({ box, full }, gap) => `(?:${box})${gap}(?:${full})|(?:${full}).{0,30}\\b(?:${box})`),
  'any',
  '552 5.2.2 Das Postfach des Empfaengers ist voll',
)
export const DISABLED_ABROAD = row(
  'mailbox_disabled',
  inAll(({ box, off }, gap) => `(?:${box})${BOX_ONLY}${gap}(?:${off})`),
  '5xx',
  '550 5.2.1 La cuenta ha sido deshabilitada',
)
export const NOT_FOUND_ABROAD = row(
  'mailbox_not_found',
  inAll(
    ({ box, absent, no }, gap) => `(?:${box})${gap}(?:${absent})${no === undefined ? '' : `|(?:${no}) ?(?:${box})`}`,
  ),
  '5xx',
  '550 5.1.1 Adresse d au moins un destinataire invalide. OFR_416 [416]',
)

import { type ReplyRow, rows } from './row.ts'

const gone = rows('recipient', '5xx')

/** Step 6 in other languages: no such mailbox. */
export const NOT_FOUND_ABROAD: readonly ReplyRow[] = [
  gone(
    'mailbox_not_found',
    /\b(?:adresse|destinataire|utilisateur|compte|boite)\b.{0,50}\b(?:inconnue?|n'existe|n existe|invalide|introuvable|inexistante?|non trouve)|\b(?:utilisateur|destinataire|adresse) (?:mail )?inconnu|aucun (?:utilisateur|compte|destinataire)|n'existe (?:pas|aucun\w?) (?:d'|de )?(?:utilisateur|compte|boite|adresse|destinataire)/,
    'Orange (French)',
    '550 5.1.1 Adresse d au moins un destinataire invalide. OFR_416 [416]',
  ),
  gone(
    'mailbox_not_found',
    /\b(?:empfanger\w{0,9}|empfaenger\w{0,9}|benutzer\w{0,5}|nutzer|adressat|adresse|e-?mail-?adresse|konto|postfach|mailbox)\b.{0,50}\b(?:unbekannt|existiert (?:hier )?nicht|nicht (?:gefunden|bekannt|vorhanden|gultig|existent|eingerichtet)|ungultig|gibt es nicht)|\bunbekannte\w? (?:empfanger|empfaenger|benutzer|nutzer|adress)|\bkeine?n? (?:solche\w? )?(?:benutzer|empfanger|postfach|konto|mailbox)/,
    'German hosts',
    '550 5.1.1 Der Empfänger ist hier unbekannt',
  ),
  gone(
    'mailbox_not_found',
    /\b(?:usuario|destinatario|cuenta|buzon|direccion|casilla|correo)\b.{0,50}\b(?:no existe|desconocid|no encontrad|no se encuentra|inexistente|no (?:es )?valid|invalid)|\bno existe\b.{0,20}\b(?:usuario|cuenta|buzon|destinatario|direccion|casilla)|\busuario desconocido/,
    'Spanish hosts',
    '550 5.1.1 El usuario no existe',
  ),
  gone(
    'mailbox_not_found',
    /\b(?:utente|destinatario|destin|casella|indirizzo|account|mailbox)\b.{0,50}\b(?:sconosciut|errat|inesistente|non esiste|non trovat|non valid|non risulta|non presente)|\butente sconosciuto/,
    'Libero (Italian)',
    '550 5.1.1 Utente sconosciuto: la casella non esiste',
  ),
  gone(
    'mailbox_not_found',
    /\b(?:usuario|utilizador|destinatario|conta|caixa|endereco|mailbox|e-?mail)\b.{0,50}\b(?:nao existe|desconhecid|inexistente|nao encontrad|nao foi encontrad|nao localizad|invalid)|\bnao existe\b.{0,20}\b(?:usuario|conta|caixa|destinatario|endereco)/,
    'UOL, Locaweb (Portuguese)',
    '550 5.1.1 Usuário não encontrado: a conta não existe',
  ),
  gone(
    'mailbox_not_found',
    /(?:пользовател|адрес|ящик|получател|аккаунт|уч[её]тн).{0,50}(?:не существует|не найден|не зарегистрирован|неизвест|отсутству|недейств|не сущ)|нет такого (?:пользовател|ящик|адрес|получател)|так(?:ого|ой) (?:пользовател|ящик|адрес|получател)\S{0,4}.{0,12}(?:нет|не )|неизвестн\S{2,3} (?:пользовател|получател|адрес)/,
    'Russian hosts',
    '550 5.1.1 Нет такого пользователя',
  ),
  gone(
    'mailbox_not_found',
    /(?:ユーザ|宛先|メールアドレス|メールボックス|アドレス|受信者|アカウント|あて先).{0,24}(?:存在しません|存在しない|存在致しません|見つかりません|見つからない|不明|ありません|登録されていません)/,
    'Japanese hosts',
    '550 5.1.1 宛先のメールアドレスは存在しません',
  ),
  gone(
    'mailbox_not_found',
    /(?:用户|用戶|收件人|邮箱|信箱|帐号|账号|帳號|地址|郵箱|账户|帐户|使用者|收信人).{0,12}(?:不存在|未找到|无效|無效|有误|錯誤|错误|不正确|找不到|没有找到)|(?:不存在|没有|沒有|查无|查無)(?:该|此|的|这个|這個|該)?(?:用户|用戶|收件人|邮箱|账号|帐号|使用者|此人)/,
    'Coremail, NetEase, QQ (Chinese)',
    '550 5.1.1 收件人邮箱不存在',
  ),
  gone(
    'mailbox_not_found',
    /(?:사용자|수신자|메일함|계정|주소|받는 ?사람|수신인).{0,24}(?:없습니다|존재하지|찾을 수 없|없음|없는)|존재하지 않는 (?:사용자|계정|주소|메일)/,
    'Naver, Daum (Korean)',
    '550 5.1.1 존재하지 않는 사용자입니다',
  ),
  gone(
    'mailbox_not_found',
    /\b(?:gebruiker|adres|ontvanger|postbus|mailbox|geadresseerde)\b.{0,40}\b(?:onbekend|bestaat niet|niet gevonden|ongeldig)|\bonbekende (?:gebruiker|ontvanger)/,
    'Dutch hosts',
    '550 5.1.1 Onbekende gebruiker',
  ),
  gone(
    'mailbox_not_found',
    /\b(?:u[zż]ytkownik|adres\w{0,3}|skrzynk\w|konto|odbiorc\w)\b.{0,40}\b(?:nie istnieje|nieznan|nie znaleziono|nieprawid[lł]ow)|\bnieznany (?:u[zż]ytkownik|odbiorca|adres)|\bnie ma takiego/,
    'Onet, WP (Polish)',
    '550 5.1.1 Skrzynka odbiorcy nie istnieje',
  ),
  gone(
    'mailbox_not_found',
    /\b(?:uzivatel|schrank\w|adresat|prijemce|pouzivatel|prijemca)\b.{0,40}\b(?:neexistuj|neznam|nenalezen|nenajden)|\b(?:kullan[ıi]c[ıi]|adres|hesap|al[ıi]c[ıi]|posta kutusu)(?![a-z]).{0,40}\b(?:bulunamad|yok|bilinmiyor|mevcut degil|gecersiz)/,
    'Seznam (Czech), Turkish hosts',
    '550 5.1.1 Schránka příjemce neexistuje',
  ),
  gone(
    'mailbox_not_found',
    /\b(?:anvandare\w{0,2}|mottagare\w{0,2}|adressen|bruger\w{0,3}|bruker\w{0,3}|modtager\w{0,3}|mottaker\w{0,3}|kayttaja\w{0,2}|vastaanottaja\w{0,2})\b.{0,40}\b(?:okand|finns inte|finns ej|hittades inte|ukendt|ukjent|findes ikke|finnes ikke|eksisterer ikke|tuntematon|ei ole|ei loydy)|\b(?:okand|ukendt|ukjent) (?:anvandare|mottagare|bruger|bruker|modtager|mottaker)/,
    'Nordic hosts',
    '550 5.1.1 Okänd användare',
  ),
  gone(
    'mailbox_not_found',
    /(?:χρ[ηή]στη|παραλ[ηή]πτη|δι[εέ][υύ]θυνση|λογαριασμ|γραμματοκιβ[ωώ]τιο)\S{0,3}.{0,40}(?:δεν (?:υπ[αά]ρχ|βρ[εέ]θηκ)|[αά]γνωστ|ανυπ[αά]ρκτ)|[αά]γνωστο\S? (?:χρ[ηή]στη|παραλ[ηή]πτη)/,
    'Greek hosts',
    '550 5.1.1 Ο χρήστης δεν υπάρχει',
  ),
  gone(
    'mailbox_not_found',
    /(?:المستخدم|العنوان|الحساب|صندوق البريد|المستلم|البريد).{0,30}(?:غير موجود|غير معروف|لا يوجد|غير صالح)|لا يوجد (?:مستخدم|حساب|صندوق)|(?:משתמש|כתובת|תיבה|תיבת|נמען|חשבון).{0,30}(?:לא קי|לא נמצא|לא מוכר|לא ידוע|אינ\S{1,2} קי)|(?:کاربر|نشانی|گیرنده|حساب|صندوق).{0,30}(?:وجود ندارد|یافت نشد|نامعتبر)/,
    'Arabic, Hebrew, Persian hosts',
    '550 5.1.1 المستخدم غير موجود',
  ),
  gone(
    'mailbox_not_found',
    /(?:nguoi dung|nguoi nhan|[dđ]ia chi|hop thu|tai khoan)\b.{0,30}\bkhong (?:ton tai|tim thay|hop le|co)|\bkhong (?:ton tai|tim thay)\b.{0,20}(?:nguoi dung|[dđ]ia chi|hop thu|tai khoan)|\b(?:pengguna|penerima|alamat|akun|kotak surat)\b.{0,30}\btidak (?:ditemukan|ada|dikenal|terdaftar|wujud|sah)|(?:ผู้ใช้|ผู้รับ|ที่อยู่|บัญชี|กล่องจดหมาย).{0,30}(?:ไม่มี|ไม่พบ|ไม่ถูกต้อง)|ไม่(?:พบ|มี)(?:ผู้ใช้|ผู้รับ|บัญชี)/,
    'Vietnamese, Indonesian, Thai hosts',
    '550 5.1.1 Người dùng không tồn tại',
  ),
  gone(
    'mailbox_not_found',
    /\b(?:felhasznalo|cimzett|postafiok|fiok|e-?mail ?cim)\b.{0,30}\b(?:nem letezik|ismeretlen|nem talalhato|ervenytelen)|\bismeretlen (?:felhasznalo|cimzett)|\bnincs ilyen (?:felhasznalo|cimzett|postafiok|cim)|\b(?:utilizator\w{0,3}|destinatar\w{0,3}|adresa|contul|casuta)\b.{0,30}\b(?:nu exista|necunoscut|inexistent|nu a fost gasit|invalida)|\b(?:korisni[ck]\w?|primatelj|primalac|adresa|racun|uporabnik|prejemnik|naslov)\b.{0,30}\b(?:ne postoji|nepoznat|ne obstaja|neznan|nije prona)/,
    'Hungarian, Romanian, South Slavic hosts',
    '550 5.1.1 A felhasználó nem létezik',
  ),
  gone(
    'mailbox_not_found',
    /(?:користувач|скриньк|одержувач|отримувач|адрес)\S{0,4}.{0,40}(?:не існу|не знайдено|невідом|відсутн)|(?:потребител|получател|пощенск|корисник|прималац)\S{0,4}.{0,40}(?:не съществува|непознат|не е намерен|не постоји|не постои)|\b(?:kasutaja|lietotaj\w|vartotoj\w{1,2}|saaja|adresats)\b.{0,30}\b(?:ei ole olemas|puudub|neeksiste|nerasta|neegzistuoja|tundmatu|nezinam|nezinom)/,
    'Ukrainian, Bulgarian, Serbian, Baltic hosts',
    '550 5.1.1 Користувача не знайдено',
  ),
]

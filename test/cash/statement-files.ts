/** Files of banks, as they are downloaded: days as YYYY-MM-DD, amounts as the file writes them. */
export type OfxLine = { on: string; amount: string; id: string; memo: string }

const plain = (day: string) => day.replaceAll('-', '')

/** OFX 1.02: SGML, whose values have no end tags. Windows-1252 unless said. */
export const ofxFile = (
  lines: readonly OfxLine[],
  {
    balance,
    to,
    end,
    account = '12345-6',
    bank = '0341',
    encoding = 'latin1',
  }: {
    balance: string
    /** The day of the balance. */
    to: string
    /** The last day of the lines, where the file says one. */
    end?: string
    account?: string
    bank?: string
    encoding?: 'latin1' | 'utf8'
  },
): Buffer =>
  Buffer.from(
    [
      'OFXHEADER:100',
      'DATA:OFXSGML',
      'VERSION:102',
      'ENCODING:USASCII',
      `CHARSET:${encoding === 'latin1' ? '1252' : 'NONE'}`,
      '',
      '<OFX>',
      '<SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS><DTSERVER>20260930000000<LANGUAGE>POR</SONRS></SIGNONMSGSRSV1>',
      '<BANKMSGSRSV1><STMTTRNRS><TRNUID>1001<STATUS><CODE>0<SEVERITY>INFO</STATUS><STMTRS><CURDEF>BRL',
      `<BANKACCTFROM><BANKID>${bank}<ACCTID>${account}<ACCTTYPE>CHECKING</BANKACCTFROM>`,
      '<BANKTRANLIST>',
      ...lines.flatMap(({ on, amount, id, memo }) => [
        '<STMTTRN>',
        `<TRNTYPE>${amount.startsWith('-') ? 'DEBIT' : 'CREDIT'}`,
        `<DTPOSTED>${plain(on)}100000[-3:GMT]`,
        `<TRNAMT>${amount}`,
        `<FITID>${id}`,
        `<MEMO>${memo}`,
        '</STMTTRN>',
      ]),
      ...(end === undefined ? [] : [`<DTEND>${plain(end)}`]),
      '</BANKTRANLIST>',
      `<LEDGERBAL><BALAMT>${balance}<DTASOF>${plain(to)}</LEDGERBAL>`,
      '</STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>',
      '',
    ].join('\r\n'),
    encoding,
  )

/** OFX 2.2: XML, in UTF-8. */
export const ofx2File = (lines: readonly OfxLine[], { balance, to }: { balance: string; to: string }): Buffer =>
  Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?><?OFX OFXHEADER="200" VERSION="220"?><OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>BRL</CURDEF>
     <BANKTRANLIST>${lines
       .map(
         ({ on, amount, id, memo }) =>
           `<STMTTRN><TRNTYPE>OTHER</TRNTYPE><DTPOSTED>${plain(on)}</DTPOSTED><TRNAMT>${amount}</TRNAMT><FITID>${id}</FITID><MEMO>${memo}</MEMO></STMTTRN>`,
       )
       .join('\n')}</BANKTRANLIST>
     <LEDGERBAL><BALAMT>${balance}</BALAMT><DTASOF>${plain(to)}</DTASOF></LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n`,
  )

const days = (day: string) => `${day.slice(8)}${day.slice(5, 7)}${day.slice(0, 4)}`
const put = (record: string, at: number, text: string) =>
  record.slice(0, at - 1) + text + record.slice(at - 1 + text.length)
const money = (minor: number) => `${String(Math.abs(minor)).padStart(18, '0')}${minor < 0 ? 'D' : 'C'}`

/** CNAB 240, one batch of segments E. Amounts in minor units. */
export const cnabFile = (
  lines: readonly { on: string; amount: number; text: string }[],
  { opening, closing, from, to }: { opening: number; closing: number; from: string; to: string },
  segment = 'E',
): Buffer => {
  const empty = ' '.repeat(240)
  const header = put(put(put(empty, 1, '34100000'), 143, ''), 8, '0')
  const batch = put(
    put(put(put(put(empty, 1, '34100011E0440030'), 59, '000000012345'), 71, '6'), 143, days(from)),
    151,
    money(opening),
  )
  const details = lines.map(({ on, amount, text }, index) =>
    put(
      put(
        put(
          put(put(empty, 1, `34100013${String(index + 1).padStart(5, '0')}${segment}`), 143, days(on)),
          151,
          money(amount),
        ),
        177,
        text.slice(0, 25),
      ),
      202,
      `D${index}`,
    ),
  )
  const digits = (value: number, places: number) => String(value).padStart(places, '0')
  const sumOf = (side: 1 | -1) =>
    digits(
      lines.reduce((sum, { amount }) => (Math.sign(amount) === side ? sum + Math.abs(amount) : sum), 0),
      18,
    )
  const trailer = put(put(put(empty, 1, '34100015'), 143, days(to)), 151, money(closing))
  const figures = `${digits(lines.length + 2, 6)}${sumOf(-1)}${sumOf(1)}`
  const end = put(put(empty, 1, '34199999'), 18, `${digits(1, 6)}${digits(lines.length + 4, 6)}`)
  return Buffer.from(
    [header, put(batch, 171, 'BRL'), ...details, put(trailer, 171, figures), end].join('\r\n'),
    'latin1',
  )
}

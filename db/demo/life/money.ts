import { addDays } from '../../../config/time.ts'
import { createReceivable, createReceipt, issueReceivable } from '../../accounts-receivable/index.ts'
import {
  closeSession,
  createCashAccount,
  createMovement,
  createTransfer,
  openSession,
  receiveStatement,
  setPix,
} from '../../cash/index.ts'
import { defaultBook } from '../../financial/index.ts'
import { always } from '../../lib/conditions.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { recordPayment } from '../../payment/index.ts'
import { chargeFolio } from '../../reservations/index.ts'
import { sol } from '../ids.ts'
import { roomOfRef } from './book.ts'

const { propertyId } = sol
const judge = () => {}
const asked = { sight: { ownOf: null, mayApprove: true, reveals: true }, scope: always, judge }

export const accountOf = async (trx: Trx, code: string): Promise<string> => {
  const found = await sqlOne<{ id: string }>(
    trx,
    `select a.id from account a join book b on b.tenant_id = a.tenant_id and b.id = a.book_id and b.is_default where a.code = ?`,
    [code],
  )
  if (!found) throw new Error(`the demo has no account ${code}`)
  return found.id
}

export const cashAccountOf = async (trx: Trx, code: string): Promise<string> => {
  const found = await sqlOne<{ id: string }>(trx, `select id from cash_account where code = ?`, [code])
  if (!found) throw new Error(`the demo has no cash account ${code}`)
  return found.id
}

const customerOf = async (trx: Trx, name: string): Promise<string> => {
  const found = await sqlOne<{ id: string }>(trx, `select id from customer where trade_name = ?`, [name])
  if (!found) throw new Error(`the demo has no customer ${name}`)
  return found.id
}

const opening = { bank: 2_500_000, petty: 30_000, register: 20_000 }
const fee = 4_900

/** A bank with a Pix key, a safe, petty cash and the register of the reception, as they were when the inn began here; then the first fee of the bank. */
export const openAccounts = async (trx: Trx, firstDay: string): Promise<void> => {
  const book = await defaultBook(trx)
  if (!book) throw new Error('the tenant has no book')
  const bookId = book.id
  const bank = await createCashAccount(trx, {
    bookId,
    kind: 'bank',
    code: 'BANCO',
    name: 'Banco da Costa',
    bankCode: '341',
    branch: '0001',
    number: '12345-6',
    holderName: 'Pousada do Sol Ltda',
    holderDocument: '11222333000181',
    opening: { amount: opening.bank, on: firstDay },
  })
  await setPix(trx, bank, {
    keys: [{ type: 'email', key: 'pix@sol.example' }],
    connection: { provider: 'sandbox', credentials: { clientId: 'pousada-do-sol', clientSecret: 'sandbox-secret' } },
  })
  const house = { bookId, propertyId }
  const safeAccountId = await createCashAccount(trx, { ...house, kind: 'safe', code: 'COFRE', name: 'Cofre' })
  const petty = await createCashAccount(trx, {
    ...house,
    kind: 'petty_cash',
    code: 'MIUDO',
    name: 'Caixa pequeno',
    opening: { amount: opening.petty, on: firstDay },
  })
  await createCashAccount(trx, {
    ...house,
    kind: 'register',
    code: 'RECEPCAO',
    name: 'Caixa da recepção',
    safeAccountId,
    differenceLimit: 1_000,
    opening: { amount: opening.register, on: firstDay },
  })
  const spend = async (cashAccountId: string, amount: number, code: string, description: string) =>
    createMovement(
      trx,
      { cashAccountId, amount: -amount, bookedOn: firstDay, accountId: await accountOf(trx, code), description },
      asked,
    )
  await spend(bank, fee, '6.1.99', 'Tarifa mensal da conta')
  await spend(petty, 3_850, '5.1.04', 'Flores para a recepção')
  await spend(petty, 4_500, '6.1.10', 'Táxi para o cartório')
}

const opened = (trx: Trx, count: Record<string, number>) =>
  cashAccountOf(trx, 'RECEPCAO').then((registerId) => openSession(trx, registerId, count))

const takeCash = async (trx: Trx, ref: string, description: string, amount: number): Promise<void> => {
  const { folioId } = await roomOfRef(trx, ref)
  await chargeFolio(trx, folioId, { category: 'other', description, quantity: '1', unitAmount: amount })
  await recordPayment(trx, {
    propertyId,
    method: 'cash',
    amount,
    currency: 'BRL',
    targetType: 'folio',
    targetId: folioId,
  })
}

/** A day of the register: guests pay in cash, the drawer is 0.50 short, and what it took goes to the safe. */
export const runRegister = async (trx: Trx): Promise<void> => {
  const id = await opened(trx, { '10000': 1, '5000': 2 })
  await takeCash(trx, 'SOL-105', 'Passeio de barco', 18_000)
  await takeCash(trx, 'SOL-106', 'Aluguel de bicicletas', 6_000)
  await closeSession(
    trx,
    id,
    { count: { '10000': 3, '5000': 2, '2000': 1, '1000': 1, '500': 1, '200': 2, '50': 1 }, drop: { amount: 20_000 } },
    { mayApprove: false },
  )
}

/** Today's register stands open. */
export const openRegister = async (trx: Trx): Promise<void> => {
  await opened(trx, { '5000': 2, '10000': 1, '2000': 1, '1000': 1, '500': 1, '200': 2, '50': 1 })
  await takeCash(trx, 'SOL-202', 'Camiseta da pousada', 9_000)
}

/** A statement of the bank, as it is downloaded: SGML, whose values have no end tags. Amounts in minor units. */
const statementOf = (lines: readonly [on: string, amount: number, memo: string][], to: string): string => {
  const money = (minor: number) => (minor / 100).toFixed(2)
  const plain = (day: string) => day.replaceAll('-', '')
  const balance = opening.bank + lines.reduce((total, [, amount]) => total + amount, 0)
  return [
    'OFXHEADER:100',
    'DATA:OFXSGML',
    'VERSION:102',
    'ENCODING:UTF-8',
    'CHARSET:NONE',
    '',
    '<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>BRL',
    '<BANKACCTFROM><BANKID>0341<ACCTID>12345-6<ACCTTYPE>CHECKING</BANKACCTFROM><BANKTRANLIST>',
    ...lines.map(
      ([on, amount, memo], index) =>
        `<STMTTRN><TRNTYPE>${amount < 0 ? 'DEBIT' : 'CREDIT'}<DTPOSTED>${plain(on)}<TRNAMT>${money(amount)}<FITID>${plain(on)}${index}<MEMO>${memo}</STMTTRN>`,
    ),
    `</BANKTRANLIST><LEDGERBAL><BALAMT>${money(balance)}<DTASOF>${plain(to)}</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>`,
    '',
  ].join('\r\n')
}

/** Two invoices of an agency: one is overdue, and the other one falls due in two parts, today and in a month. */
export const billAgency = async (trx: Trx, today: string): Promise<void> => {
  const day = (ahead: number) => addDays(today, ahead)
  const customerId = await customerOf(trx, 'Mar Azul')
  const accountId = await accountOf(trx, '4.3.08')
  const bill = async (description: string, unitAmount: number, installments: { dueOn: string; amount: number }[]) => {
    const lines = [{ description, quantity: '1', unitAmount, accountId }]
    const id = await createReceivable(trx, { propertyId, customerId, issuedOn: day(-2), lines, installments })
    await issueReceivable(trx, id, null, null)
  }
  await bill('Traslado de um grupo', 96_000, [{ dueOn: day(-1), amount: 96_000 }])
  await bill('Passeio de escuna', 240_000, [
    { dueOn: day(0), amount: 120_000 },
    { dueOn: day(30), amount: 120_000 },
  ])
}

/** The bank's side: an agency pays a part, cash goes to the petty cash, and a statement has a deposit that is still to be explained. */
export const collectMoney = async (trx: Trx, today: string): Promise<void> => {
  const yesterday = addDays(today, -1)
  const [bank, petty] = [await cashAccountOf(trx, 'BANCO'), await cashAccountOf(trx, 'MIUDO')]
  const customerId = await customerOf(trx, 'Mar Azul')
  const due = await sqlOne<{ id: string }>(
    trx,
    `select i.id from receivable_installment i join receivable r on r.tenant_id = i.tenant_id and r.id = i.receivable_id
     where r.customer_id = ? and i.due_on = ?`,
    [customerId, today],
  )
  await createReceipt(
    trx,
    {
      cashAccountId: bank,
      method: 'bank',
      amount: 120_000,
      receivedOn: yesterday,
      customerId,
      allocations: [{ installmentId: due?.id ?? '', principal: 120_000 }],
      reference: 'TED 90211',
    },
    { ownOf: null, judge },
  )
  await createTransfer(
    trx,
    {
      fromAccountId: bank,
      toAccountId: petty,
      method: 'manual',
      amount: 20_000,
      sentOn: yesterday,
      receivedOn: yesterday,
      purpose: 'Reforço do caixa pequeno',
    },
    { ownOf: null, scope: always, judge },
  )
  const text = statementOf(
    [
      [addDays(today, -2), -fee, 'TARIFA MENSAL'],
      [yesterday, 120_000, 'TED RECEBIDA VIAGENS MAR AZUL'],
      [yesterday, -20_000, 'SAQUE'],
      [yesterday, 37_500, 'DEPOSITO EM DINHEIRO'],
    ],
    yesterday,
  )
  await receiveStatement(trx, {
    cashAccountId: bank,
    format: 'ofx',
    fileName: 'extrato.ofx',
    content: Buffer.from(text).toString('base64'),
  })
}

import { cashAccountKinds } from '../../config/cash.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  Bool,
  Currency,
  Day,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Sparse,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  archiveCashAccount,
  changeCashAccount,
  createCashAccount,
  listCashAccounts,
  readCashAccount,
} from '../../db/cash/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission, Caller } from '../lib/caller.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { stamps } from '../properties/schemas.ts'
import { AccountCode, MatchRules, ofBank, ofRegister, path, PixState, sightOf, SignedMoney } from './schemas.ts'

const Kind = OneOf([...cashAccountKinds])
const record = {
  id: Uuid,
  bookId: Uuid,
  propertyId: Nullable(Uuid),
  kind: Kind,
  code: AccountCode,
  name: Text(1, 120),
  currency: Currency,
  ledgerAccountId: Uuid,
  ispb: Nullable(Text(8, 8)),
  bankCode: Nullable(Text(3, 3)),
  branch: Nullable(Text(0, 20, { cardNumber: 'exempt' })),
  number: Nullable(Text(0, 30, { cardNumber: 'exempt' })),
  holderName: Nullable(Text(0, 120)),
  /** Masked without the permission to reveal. */
  holderDocument: Nullable(Text(0, 30, { cardNumber: 'exempt' })),
  status: OneOf(['active', 'archived']),
  /** Null while a blind session of the register is open, for those who do not approve sessions. */
  balance: Nullable(SignedAmount),
  /** The part of the balance that bank statements have proven. */
  cleared: SignedAmount,
  blind: Bool,
  differenceLimit: Amount,
  safeAccountId: Nullable(Uuid),
  openSessionId: Nullable(Uuid),
  matchRules: MatchRules,
  ...stamps,
}
const ListedAccount = Obj(record, { title: 'CashAccountListed' })
const CashAccount = Obj(
  {
    ...record,
    /** The balance that the latest bank statement states. */
    bank: Nullable(Obj({ balance: SignedAmount, on: Day })),
    pix: Obj(PixState, { title: 'PixState' }),
  },
  { title: 'CashAccount' },
)

const seen = ({ admission, caller }: { admission: Admission; caller: Caller }) =>
  sightOf(admission, caller, 'CashAccount', 'read')

const whole = (trx: Trx, id: string) => readCashAccount(trx, id, { mayApprove: true, ownOf: null, reveals: false })

const accounts = resource({
  name: 'cashAccounts',
  subject: 'CashAccount',
  table: 'cash_account',
  path: `${path}/accounts`,
  param: 'cashAccountId',
  record: CashAccount,
  read: whole,
  show: (account, admission) =>
    account.sessionBlind && !admission.can('approve', 'CashSession') ? { ...account, balance: null } : account,
})

const list = accounts.list({
  summary: 'List bank, acquirer, safe, petty cash and register accounts',
  query: {
    kind: Opt(Kind),
    propertyId: Opt(Uuid),
    bookId: Opt(Uuid),
    status: Opt(OneOf(['active', 'archived'])),
  },
  of: ListedAccount,
  example: { kind: 'register' },
  find: ({ trx, filter, admission, caller }) => listCashAccounts(trx, filter, seen({ admission, caller })),
})

const ofDates = ['date_out_of_range', 'period_closed', 'date_locked', 'period_missing'] as const

const create = accounts.create({
  summary: 'Create an account and link it to the ledger',
  description:
    'Without `ledgerAccountId` the account of its kind in the chart is taken; a second bank or acquirer gets one of its own beside it. `opening` books what the account held on a day, against the opening differences of the book.',
  errors: [
    'duplicate_code',
    'reference_not_found',
    'account_not_usable',
    'ledger_account_taken',
    'ledger_account_not_cash',
    'cash_short',
    'business_day_changed',
    ...ofDates,
  ],
  body: Obj({
    bookId: Opt(Uuid),
    propertyId: Opt(Nullable(Uuid)),
    kind: Kind,
    code: AccountCode,
    name: Words(1, 120),
    ledgerAccountId: Opt(Uuid),
    ...ofBank,
    ...ofRegister,
    matchRules: Opt(MatchRules),
    opening: Opt(Obj({ amount: SignedMoney, on: Day })),
  }),
  example: { kind: 'safe', code: 'SAFE-2', name: 'Safe of the back office', propertyId: sampleId('propertyId') },
  command: ({ trx, body, admission }) => {
    admission.check('create', 'CashAccount', { propertyId: body.propertyId ?? null, kind: body.kind })
    return createCashAccount(trx, body)
  },
})

const read = route({
  id: 'cashAccounts.read',
  method: 'GET',
  path: `${path}/accounts/:cashAccountId`,
  summary: 'Read an account with book, cleared and bank balance',
  access: can('read', 'CashAccount'),
  returns: CashAccount,
  handle: async ({ trx, params, admission, caller }) => {
    const account = await readCashAccount(trx, params.cashAccountId, seen({ admission, caller }))
    admission.check('read', 'CashAccount', asJudged('cash_account', account.id, account))
    return account
  },
})

const change = accounts.change({
  summary: 'Change names, bank data, register limits or match rules',
  description: '`matchRules` are replaced whole. The ledger account is fixed after the first movement.',
  errors: [
    'invalid_transition',
    'duplicate_code',
    'reference_not_found',
    'account_not_usable',
    'ledger_account_taken',
    'ledger_account_not_cash',
    'locked_field',
  ],
  body: Sparse(
    Obj({
      code: AccountCode,
      name: Words(1, 120),
      ledgerAccountId: Uuid,
      ...ofBank,
      ...ofRegister,
      matchRules: MatchRules,
    }),
  ),
  example: { name: 'Safe of the office' },
  command: ({ trx, id, body }) => changeCashAccount(trx, id, body),
})

const archive = accounts.act('archive', {
  action: 'delete',
  summary: 'Retire an account with zero balance and nothing pending',
  errors: ['account_not_empty'],
  command: ({ trx, id }) => archiveCashAccount(trx, id),
})

export const routes = [list, create, read, change, archive]

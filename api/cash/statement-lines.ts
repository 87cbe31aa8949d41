import { invalid } from '../../config/errors.ts'
import { sampleId } from '../../config/samples.ts'
import { Day, List, Obj, Opt, Text, Uuid } from '../../config/schema.ts'
import { ignoreLine, listStatementLines, matchLine, readStatementLine, unmatchLine } from '../../db/cash/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { resource } from '../lib/resource.ts'
import { path, SignedMoney } from './schemas.ts'
import { LineStatus, MatchTarget, StatementLine } from './statement-schemas.ts'

const whole = (trx: Trx, id: string) => readStatementLine(trx, id, false)

const lines = resource({
  name: 'bankStatementLines',
  subject: 'BankStatement',
  table: 'bank_statement_line',
  path: `${path}/bank-statement-lines`,
  param: 'statementLineId',
  record: StatementLine,
  lockedBy: 'command',
  read: whole,
})

const list = lines.list({
  summary: 'List lines with suggested matches',
  description:
    'By day and place in the file. An unmatched line has up to five `suggestions`: movements, payouts and open installments of its amount, and the rule of the account that fits.',
  query: {
    bankStatementId: Opt(Uuid),
    cashAccountId: Opt(Uuid),
    status: Opt(LineStatus),
    from: Opt(Day),
    to: Opt(Day),
    amount: Opt(SignedMoney),
    q: Opt(Text(1, 100)),
  },
  of: StatementLine,
  example: { status: 'unmatched' },
  find: ({ trx, filter, admission }) =>
    listStatementLines(trx, filter, { reveals: admission.can('reveal', 'CashMovement') }),
})

const match = lines.act('match', {
  summary: 'Match a line, book its difference, or ignore it',
  description:
    'Each of `targets` has one of `cashMovementId`, `payoutId`, `payableInstallmentId`, `receivableInstallmentId` and `book`; with their signs they come to the line. An installment is settled here, with `principal`, `interest`, `fine`, `discount`, and for invoices `fee` and `withheld`. `ignoreReason` in their place ignores the line.',
  errors: [
    'match_not_equal',
    'reference_not_found',
    'account_not_usable',
    'account_archived',
    'in_use',
    'cash_busy',
    'movement_reconciled',
    'invalid_transition',
    'date_out_of_range',
    'period_closed',
    'date_locked',
    'period_missing',
    'amount_exceeds_open',
    'installment_in_payment',
    'payable_not_approved',
    'not_payable',
  ],
  idempotency: 'required',
  body: Obj({ targets: Opt(List(MatchTarget, { min: 1, max: 50 })), ignoreReason: Opt(Reason) }),
  example: { targets: [{ cashMovementId: sampleId('cashMovementId') }] },
  command: async ({ trx, id, body, expectedVersion: expected, admission }) => {
    if ((body.targets === undefined) === (body.ignoreReason === undefined))
      throw invalid([{ field: 'targets', message: 'exactly one of targets and ignoreReason is given' }])
    if (body.ignoreReason !== undefined) return ignoreLine(trx, id, trimmed(body.ignoreReason), { expected })
    const { features } = admission
    return matchLine(trx, id, body.targets ?? [], {
      expected,
      features,
      scope: admission.scope('match', 'BankStatement'),
    })
  },
})

const unmatch = lines.act('unmatch', {
  action: 'match',
  summary: 'Undo the match of a line and what it made',
  description: 'Movements, payments and receipts that the match made are reversed today, or the whole is refused.',
  errors: ['in_use', 'cash_busy', 'movement_reconciled', 'invalid_transition'],
  body: Obj({ reason: Opt(Reason) }),
  example: { reason: 'The payment was of another bill' },
  command: ({ trx, id, body, expectedVersion: expected }) =>
    unmatchLine(trx, id, {
      expected,
      reason: body.reason === undefined ? 'Match undone' : trimmed(body.reason),
    }),
})

export const routes = [list, match, unmatch]

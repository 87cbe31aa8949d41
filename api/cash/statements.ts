import { statementFormats, statementStatuses } from '../../config/cash-statements.ts'
import { sampleId } from '../../config/samples.ts'
import { Obj, OneOf, Opt, Text, Uuid, Words } from '../../config/schema.ts'
import {
  deleteStatement,
  listStatements,
  readStatement,
  receiveStatement,
  refuseAccountElsewhere,
  reconcileStatement,
  reopenStatement,
} from '../../db/cash/index.ts'
import { can } from '../lib/access/kinds.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { waitable } from '../lib/waitable.ts'
import { path, SignedMoney } from './schemas.ts'
import { BankStatement, CsvMapping, ListedStatement, StatementStatus } from './statement-schemas.ts'

const statements = resource({
  name: 'bankStatements',
  subject: 'BankStatement',
  table: 'bank_statement',
  path: `${path}/bank-statements`,
  param: 'bankStatementId',
  record: BankStatement,
  lockedBy: 'command',
  read: readStatement,
})

const list = statements.list({
  summary: 'List imported statements',
  query: { cashAccountId: Opt(Uuid), status: Opt(StatementStatus) },
  of: ListedStatement,
  example: { cashAccountId: sampleId('cashAccountId') },
  find: ({ trx, filter }) => listStatements(trx, filter),
})

const sample = [
  'OFXHEADER:100',
  '<OFX><STMTRS><CURDEF>BRL<BANKTRANLIST><STMTTRN><TRNAMT>-19.90<DTPOSTED>20261115<FITID>1<MEMO>TARIFA</STMTTRN></BANKTRANLIST></STMTRS></OFX>',
].join('\n')

const create = statements.create({
  summary: 'Import an OFX, CSV or CNAB 240 statement without duplicates',
  description:
    'A worker reads the file: wait for it with `waitSeconds` and `since=received`. What cannot be read, or is of another account or currency, is rejected as a whole. Lines that are known are not added again. `mapping` says how a csv is read; without it the last one of the account is taken.',
  errors: ['file_too_large', 'statement_exists', 'reference_not_found', 'account_archived'],
  bodyLimit: 14 * 1024 * 1024,
  body: Obj({
    cashAccountId: Uuid,
    format: OneOf([...statementFormats]),
    fileName: Words(1, 200),
    content: Text(4, 14_600_000, { cardNumber: 'exempt' }),
    mapping: Opt(CsvMapping),
  }),
  example: {
    cashAccountId: sampleId('bankAccountId'),
    format: 'ofx',
    fileName: 'november.ofx',
    content: Buffer.from(sample).toString('base64'),
  },
  command: async ({ trx, body, admission }) => {
    await refuseAccountElsewhere(trx, body.cashAccountId, admission.propertyIds)
    return receiveStatement(trx, body)
  },
})

const read = waitable({
  id: 'bankStatements.read',
  path: `${path}/bank-statements/:bankStatementId`,
  summary: 'Read a statement with its import and match result',
  description:
    '`reconciliation` is what is proven of it so far. `since` with `waitSeconds` waits until its status is another one.',
  access: can('read', 'BankStatement'),
  returns: BankStatement,
  part: { resource: 'bankStatements', verb: 'read' },
  since: statementStatuses,
  read: async ({ trx, params }) => (await readStatement(trx, params.bankStatementId)).status,
  find: async ({ trx, params, admission }) => {
    const statement = await readStatement(trx, params.bankStatementId)
    admission.check('read', 'BankStatement', asJudged('bank_statement', statement.id, statement))
    return statement
  },
})

const remove = statements.remove({
  summary: 'Delete a statement none of whose lines is matched',
  errors: ['in_use', 'invalid_transition'],
  command: async ({ trx, id, expectedVersion }) => {
    const statement = await readStatement(trx, id)
    await deleteStatement(trx, id, expectedVersion)
    return statement
  },
})

const reconcile = statements.act('reconcile', {
  summary: 'Prove the closing balance and freeze the statement',
  description:
    'Every line is matched, lines that are ignored come to nothing, and what is matched comes to the closing balance. `closingBalance` is sent where the file has none.',
  errors: ['earlier_statement_open', 'not_reconciled', 'invalid_transition'],
  body: Obj({ closingBalance: Opt(SignedMoney) }),
  example: {},
  command: ({ trx, id, body, expectedVersion: expected }) =>
    reconcileStatement(trx, id, { closingBalance: body.closingBalance, expected }),
})

const reopen = statements.act('reopen', {
  action: 'reconcile',
  summary: 'Reopen the latest reconciled statement with a reason',
  errors: ['invalid_transition'],
  body: Obj({ reason: Reason }),
  example: { reason: 'A line was matched with the wrong bill' },
  command: ({ trx, id, body, expectedVersion: expected }) =>
    reopenStatement(trx, id, { reason: trimmed(body.reason), expected }),
})

export const routes = [list, create, read, remove, reconcile, reopen]

import type { ChargeCall, HeardPix } from '../../db/cash/index.ts'
import type { Outcome } from '../lib/gateway-job.ts'
import type { Bank, BankCharge, BankReturn, Calling, ChargeName } from './bank.ts'
import { ask, prove, record, textOf } from './bcb-calls.ts'
import type { Json } from './bcb-calls.ts'

/** `123.45` of minor units, and back; null for anything else. */
const valueOf = (amount: number): string => `${Math.trunc(amount / 100)}.${String(amount % 100).padStart(2, '0')}`
const amountOf = (value: unknown): number | null => {
  const [, whole = '', cents = ''] = /^(\d{1,10})\.(\d{2})$/.exec(textOf(value) ?? '') ?? []
  return whole === '' ? null : Number(whole) * 100 + Number(cents)
}
/** Percent with two places, of basis points. */
const percentOf = valueOf

const chargePath = ({ kind, txid }: ChargeName): string => `/${kind === 'due_date' ? 'cobv' : 'cob'}/${txid}`
const returnPath = (endToEndId: string, code: string): string => `/pix/${endToEndId}/devolucao/${code}`

const dayMs = 86_400_000
const weekend = [1, 0, 0, 0, 0, 0, 2] as const

/** Day from which a charge cannot be paid: the bank's record stays active beyond it. A due date on a weekend moves to Monday. */
const endOf = (calendar: Json | null): number => {
  const created = Date.parse(textOf(calendar?.['criacao']) ?? '')
  const seconds = Number(calendar?.['expiracao'])
  if (Number.isFinite(created) && Number.isFinite(seconds)) return created + seconds * 1_000
  const due = Date.parse(`${textOf(calendar?.['dataDeVencimento']) ?? ''}T00:00:00-03:00`)
  if (!Number.isFinite(due)) return Infinity
  const later = weekend[new Date(due).getUTCDay()] ?? 0
  return due + (1 + later + (Number(calendar?.['validadeAposVencimento']) || 0)) * dayMs
}

const chargeIn = (given: Json): BankCharge | null => {
  const location = textOf(given['location']) ?? textOf(record(given['loc'])?.['location'])
  const status = textOf(given['status'])
  if (location === null || status === null) return null
  const pix = Array.isArray(given['pix']) ? (given['pix'] as unknown[]).map(record) : []
  return {
    status:
      status === 'CONCLUIDA'
        ? 'paid'
        : status === 'ATIVA' && endOf(record(given['calendario'])) > Date.now()
          ? 'active'
          : 'closed',
    location: location.replace(/^https?:\/\//, ''),
    endToEndIds: pix.flatMap((one) => textOf(one?.['endToEndId']) ?? []),
  }
}

const returnStates = { DEVOLVIDO: 'done', NAO_REALIZADO: 'failed', EM_PROCESSAMENTO: 'pending' } as const
const stateOf = (given: Json | null) => returnStates[given?.['status'] as keyof typeof returnStates] ?? null

/** Returns stand with codes. Those that the house did not ask for are the bank's; its own are known by theirs. */
const pixIn = (given: Json | null): HeardPix | null => {
  const endToEndId = textOf(given?.['endToEndId'])
  const amount = amountOf(given?.['valor'])
  const at = new Date(textOf(given?.['horario']) ?? '')
  if (endToEndId === null || amount === null || amount === 0 || Number.isNaN(at.getTime())) return null
  const payer = record(given?.['pagador'])
  const returns = Array.isArray(given?.['devolucoes']) ? (given['devolucoes'] as unknown[]).map(record) : []
  return {
    endToEndId,
    txid: textOf(given?.['txid']),
    amount,
    at,
    payerName: textOf(payer?.['nome']),
    payerDocument: textOf(payer?.['cpf']) ?? textOf(payer?.['cnpj']),
    text: textOf(given?.['infoPagador']),
    returns: returns.flatMap((one) => {
      const [code, value, status] = [textOf(one?.['id']), amountOf(one?.['valor']), stateOf(one)]
      return code === null || value === null || status === null ? [] : [{ code, amount: value, status, byBank: true }]
    }),
  }
}

const returnIn = (given: Json): BankReturn | null => {
  const status = stateOf(given)
  if (status !== 'failed') return status && { status }
  return {
    status,
    failure: { code: 'NAO_REALIZADO', message: textOf(given['motivo']) ?? 'The bank could not return it' },
  }
}

const understood = <S>(outcome: Outcome<Json>, read: (given: Json) => S | null): Outcome<S> => {
  if (outcome.kind !== 'known') return outcome
  const snapshot = read(outcome.snapshot)
  return snapshot === null
    ? { kind: 'unknown', code: 'unexpected_reply', httpStatus: outcome.httpStatus }
    : { ...outcome, snapshot }
}
/** A record that the bank does not know is an answer, too. */
const orMissing = <S, M>(outcome: Outcome<S>, missing: M): Outcome<S | M> =>
  outcome.kind === 'refused' && outcome.code === 'missing' ? { kind: 'known', snapshot: missing } : outcome

const readCharge = async (calling: Calling, charge: ChargeName): Promise<Outcome<BankCharge | null>> =>
  orMissing(understood(await ask(calling, 'GET', chargePath(charge)), chargeIn), null)

const devedorOf = (payer: ChargeCall['payer']) => {
  if (payer === null) return {}
  const { name, document } = payer
  return { devedor: { [document.length === 11 ? 'cpf' : 'cnpj']: document, nome: name.slice(0, 200) } }
}

const bodyOf = ({ charge, key, payer, discounts }: ChargeCall): Json => {
  const common = { chave: key, ...devedorOf(payer), ...(charge.text === '' ? {} : { solicitacaoPagador: charge.text }) }
  const original = valueOf(charge.amount ?? 0)
  if (charge.kind !== 'due_date') {
    const left = Math.floor(((charge.expiresAt?.getTime() ?? 0) - Date.now()) / 1_000)
    return { ...common, calendario: { expiracao: Math.max(1, left) }, valor: { original } }
  }
  return {
    ...common,
    calendario: { dataDeVencimento: charge.dueOn, validadeAposVencimento: charge.graceDays ?? 30 },
    valor: {
      original,
      // Percent; percent a month of calendar days; fixed amounts until their days.
      ...(charge.fineRate === 0 ? {} : { multa: { modalidade: 2, valorPerc: percentOf(charge.fineRate) } }),
      ...(charge.monthlyInterestRate === 0
        ? {}
        : { juros: { modalidade: 3, valorPerc: percentOf(charge.monthlyInterestRate) } }),
      ...(discounts.length === 0
        ? {}
        : {
            desconto: {
              modalidade: 1,
              descontoDataFixa: discounts.map(({ until, amount }) => ({ data: until, valorPerc: valueOf(amount) })),
            },
          }),
    },
  }
}

/** A charge of this key and amount is the one that was asked for. */
const isSame = (given: Json, { charge, key }: ChargeCall): boolean =>
  textOf(given['chave']) === key && amountOf(record(given['valor'])?.['original']) === charge.amount

const perPage = 100

/** A refusal may be that of a repetition: what the bank has under the key then counts. Of one that `isAgain`, a refused look proves nothing. */
const unlessDone = async <S>(
  asked: Outcome<S>,
  look: () => Promise<Outcome<S | null>>,
  isAgain = false,
): Promise<Outcome<S>> => {
  if (asked.kind !== 'refused' || asked.httpStatus === 401) return asked
  const seen = await look()
  if (seen.kind === 'refused') return isAgain ? { kind: 'unknown', code: seen.code } : asked
  if (seen.kind !== 'known') return seen
  return seen.snapshot === null ? asked : { ...seen, snapshot: seen.snapshot }
}

/** Banks that speak the Pix API of the Central Bank (2.9), each at the address of its connection. They charge and return; none sends. */
export const bcbBank: Bank = {
  register: async (calling) => {
    const proven = await prove(calling)
    if (proven.kind !== 'known') return proven
    for (const key of calling.line.keys) {
      const told = await ask(calling, 'PUT', `/webhook/${encodeURIComponent(key)}`, {
        webhookUrl: calling.line.hookUrl,
      })
      if (told.kind !== 'known') return told
    }
    return { kind: 'known', snapshot: true }
  },
  createCharge: async (calling, call) => {
    const made = understood(await ask(calling, 'PUT', chargePath(call.charge), bodyOf(call)), chargeIn)
    return unlessDone(made, async () =>
      understood(await ask(calling, 'GET', chargePath(call.charge)), (given) =>
        isSame(given, call) ? chargeIn(given) : null,
      ),
    )
  },
  readCharge,
  cancelCharge: async (calling, charge) => {
    const body = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }
    const removed = await ask(calling, 'PATCH', chargePath(charge), body)
    // One that was paid, or removed before, cannot be removed: as it is, it is answered.
    return removed.kind === 'refused' ? readCharge(calling, charge) : understood(removed, chargeIn)
  },
  readPix: async (calling, endToEndId) =>
    orMissing(understood(await ask(calling, 'GET', `/pix/${encodeURIComponent(endToEndId)}`), pixIn), null),
  listPix: async (calling, from, to, page) => {
    const query = new URLSearchParams({
      inicio: from.toISOString(),
      fim: to.toISOString(),
      'paginacao.paginaAtual': String(page),
      'paginacao.itensPorPagina': String(perPage),
    })
    const { keys } = calling.line
    return understood(await ask(calling, 'GET', `/pix?${query.toString()}`), (given) => {
      const paging = record(record(given['parametros'])?.['paginacao'])
      const pages = Number(paging?.['quantidadeDePaginas'])
      if (!Number.isInteger(pages)) return null
      const all = Array.isArray(given['pix']) ? (given['pix'] as unknown[]).map(record) : []
      // A house may have several accounts at its bank: money for a key of another is booked there.
      const ours = all.filter((one) => textOf(one?.['chave']) === null || keys.includes(textOf(one?.['chave']) ?? ''))
      return { pix: ours.flatMap((one) => pixIn(one) ?? []), more: page + 1 < pages }
    })
  },
  returnPix: async (calling, { endToEndId, code, amount, isAgain = false }) => {
    const path = returnPath(endToEndId, code)
    const asked = understood(await ask(calling, 'PUT', path, { valor: valueOf(amount) }), returnIn)
    const look = async () => orMissing(understood(await ask(calling, 'GET', path), returnIn), null)
    return unlessDone(asked, look, isAgain)
  },
  readReturn: async (calling, { endToEndId, code }) =>
    orMissing(understood(await ask(calling, 'GET', returnPath(endToEndId, code)), returnIn), { status: 'pending' }),
  send: () => Promise.resolve({ kind: 'refused', code: 'send_unsupported', message: 'The standard sends no money' }),
  readSent: () => Promise.resolve({ kind: 'unknown', code: 'send_unsupported' }),
}

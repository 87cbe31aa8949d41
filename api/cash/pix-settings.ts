import { pixKeyTypes, pixProviderNames } from '../../config/pix.ts'
import { Int, List, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { readPix, setPix } from '../../db/cash/index.ts'
import { requireRecent } from '../lib/access/admission.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { requireAllCallable } from '../lib/callable.ts'
import { path, PixAddress, PixState } from './schemas.ts'

const Secret = Text(1, 200, { cardNumber: 'exempt' })
const Pem = Text(1, 10_000, { cardNumber: 'exempt' })

export const routes = [
  route({
    id: 'cashAccounts.setPix',
    method: 'PUT',
    path: `${path}/accounts/:cashAccountId/pix`,
    summary: 'Set the Pix keys and bank connection of an account',
    description:
      'For users alone, who have proven their identity within ten minutes; owner and finance are mailed. `keys` are replaced whole. Without `connection` it stays, null ends it. A worker registers a new one with the bank. `bcb` is any bank that speaks the standard of the Central Bank, at the `address` that it has given the house. Credentials are never answered. `version` is that of the account, which counts its Pix settings too.',
    access: can('configure', 'PixConnection'),
    support: 'never',
    errors: [
      'reauthentication_required',
      'key_not_allowed',
      'duplicate_key',
      'in_use',
      'account_archived',
      'currency_mismatch',
      'address_refused',
      'version_conflict',
    ],
    body: Obj({
      keys: List(Obj({ type: OneOf([...pixKeyTypes]), key: Text(1, 77, { cardNumber: 'exempt' }) }), { max: 20 }),
      connection: Opt(
        Nullable(
          Obj({
            provider: OneOf([...pixProviderNames]),
            address: Opt(PixAddress),
            credentials: Obj({
              clientId: Text(1, 200, { cardNumber: 'exempt' }),
              clientSecret: Secret,
              certificatePem: Opt(Pem),
              privateKeyPem: Opt(Pem),
            }),
          }),
        ),
      ),
    }),
    example: { keys: [{ type: 'email', key: 'caixa@sol.example' }] },
    returns: Obj({ cashAccountId: Uuid, version: Int(1, 2_147_483_647), ...PixState }, { title: 'PixSettings' }),
    handle: async ({ trx, params, body, caller, request, admission, expectedVersion }) => {
      requireRecent(caller, request.receivedAt)
      const address = body.connection?.address
      if (address)
        requireAllCallable({
          'connection.address.baseUrl': address.baseUrl,
          'connection.address.tokenUrl': address.tokenUrl,
        })
      const version = await setPix(trx, params.cashAccountId, body, expectedVersion)
      const pix = await readPix(trx, params.cashAccountId, admission.can('reveal', 'CashMovement'))
      return { cashAccountId: params.cashAccountId, version, ...pix }
    },
  }),
]

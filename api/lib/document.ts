import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { assertAgreement, digestOf } from './access/agreement.ts'
import { openApi } from './openapi.ts'
import type { AnyRoute } from './route.ts'

/** Reads the OpenAPI document as JSON. */
export type ReadDocument = () => Promise<string | Buffer>

/** Digests of what a build has proven to agree: of routes and permissions, and of the document's file. */
type Seal = { routes: string; document: string }

/** The folder of the compiled api, where a build leaves its document and seal. A run from the sources finds neither. */
const ownFolder = new URL('../', import.meta.url)
const documentIn = (folder: URL) => new URL('openapi.json', folder)
const sealIn = (folder: URL) => new URL('agreement.json', folder)
const digest = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')

const proven = (routes: readonly AnyRoute[]): string => {
  const document = openApi(routes)
  assertAgreement(routes, document)
  return JSON.stringify(document)
}

/** Proves that routes, permissions and document agree, and writes the document with a seal beside it: a step of the build. */
export const sealDocument = (routes: readonly AnyRoute[], folder: URL): void => {
  const document = proven(routes)
  const seal: Seal = { routes: digestOf(routes), document: digest(document) }
  writeFileSync(documentIn(folder), document)
  writeFileSync(sealIn(folder), JSON.stringify(seal))
}

/**
 * The document of the routes. A built process compares digests with the seal of its build, and reads the document's file when asked; one
 * without a seal makes the document and proves it now. Throws where routes, permissions and document differ.
 */
export const documentOf = (routes: readonly AnyRoute[], folder = ownFolder): ReadDocument => {
  if (!existsSync(sealIn(folder))) {
    const document = proven(routes)
    return () => Promise.resolve(document)
  }
  const seal = JSON.parse(readFileSync(sealIn(folder), 'utf8')) as Seal
  if (seal.routes !== digestOf(routes))
    throw new Error('Routes or permissions are not those that were built: run the build again')
  return async () => {
    const document = await readFile(documentIn(folder))
    if (digest(document) !== seal.document) throw new Error('The OpenAPI document is not the one that was built')
    return document
  }
}

import { parentPort } from 'node:worker_threads'
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import * as common from '@zxcvbn-ts/language-common'
import * as english from '@zxcvbn-ts/language-en'
import * as spanish from '@zxcvbn-ts/language-es-es'
import * as portuguese from '@zxcvbn-ts/language-pt-br'

// JavaScript, since a thread is started without the loaders of its process. See strength.ts for what passes.

// Texts of Wikipedia, the words of Diceware and 89,000 surnames find next to nothing that the others miss, and cost most of the time and memory.
const isNeeded = (name) => /^(passwords|commonWords|firstnames)-|^lastnames-(pt|es)/.test(name)

const estimator = new ZxcvbnFactory({
  dictionary: Object.fromEntries(
    [common, english, portuguese, spanish].flatMap(({ dictionary }) =>
      Object.entries(dictionary).filter(([name]) => isNeeded(name)),
    ),
  ),
  graphs: common.adjacencyGraphs,
  // Each is a further look through all words; a password of many such signs would be looked at for seconds.
  l33tMaxSubstitutions: 4,
})

parentPort?.on('message', ({ id, text, known }) => {
  try {
    parentPort?.postMessage({ id, result: estimator.check(text, known).guessesLog10 })
  } catch (error) {
    parentPort?.postMessage({ id, problem: String(error) })
  }
})

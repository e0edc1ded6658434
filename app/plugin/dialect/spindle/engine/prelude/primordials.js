// The built-ins the rest of the prelude works with, taken before any plugin
// code has run, so that a plugin that changes a prototype harms only itself.
// Code on the way of a call or an answer uses these and nothing else.

const { bind, call } = Function.prototype;

/** uncurry turns a method into a function whose first argument is its this. */
const uncurry = bind.bind(call);

export const {
  apply, construct, defineProperty, deleteProperty, getOwnPropertyDescriptor, ownKeys, getPrototypeOf, setPrototypeOf,
} = Reflect;
export const { create, freeze, keys, assign, entries } = Object;
export const parse = JSON.parse;
export const stringify = JSON.stringify;
export const isArray = Array.isArray;
export const { fromCharCode } = String;
export const { floor, min, max, trunc } = Math;
export const isInteger = Number.isInteger;
export const now = Date.now;

export const ObjectPrototype = Object.prototype;
export const objectToString = uncurry(Object.prototype.toString);
export const hasOwn = uncurry(Object.prototype.hasOwnProperty);
export const push = uncurry(Array.prototype.push);
export const slice = uncurry(Array.prototype.slice);
export const splice = uncurry(Array.prototype.splice);
export const join = uncurry(Array.prototype.join);
export const indexOf = uncurry(Array.prototype.indexOf);
export const sort = uncurry(Array.prototype.sort);
export const charCodeAt = uncurry(String.prototype.charCodeAt);
export const substring = uncurry(String.prototype.substring);
export const stringIndexOf = uncurry(String.prototype.indexOf);
export const startsWith = uncurry(String.prototype.startsWith);
export const toLowerCase = uncurry(String.prototype.toLowerCase);
export const toUpperCase = uncurry(String.prototype.toUpperCase);
export const trim = uncurry(String.prototype.trim);
export const repeat = uncurry(String.prototype.repeat);
export const split = uncurry(String.prototype.split);
export const mapGet = uncurry(Map.prototype.get);
export const mapSet = uncurry(Map.prototype.set);
export const mapHas = uncurry(Map.prototype.has);
export const mapDelete = uncurry(Map.prototype.delete);
export const mapSize = uncurry(getOwnPropertyDescriptor(Map.prototype, "size").get);
export const mapForEach = uncurry(Map.prototype.forEach);
export const setHas = uncurry(Set.prototype.has);
export const setAdd = uncurry(Set.prototype.add);
export const setDelete = uncurry(Set.prototype.delete);
export const setClear = uncurry(Set.prototype.clear);
export const setForEach = uncurry(Set.prototype.forEach);
export const wellFormed = uncurry(String.prototype.toWellFormed);
export const arraySlice = uncurry(Uint8Array.prototype.slice);
export const bytesToBase64 = uncurry(Uint8Array.prototype.toBase64);
export const bytesFromBase64 = Uint8Array.fromBase64.bind(Uint8Array);
export const errorToString = uncurry(Error.prototype.toString);
export const then = uncurry(Promise.prototype.then);
export const resolved = Promise.resolve.bind(Promise);
export const rejected = Promise.reject.bind(Promise);

export const $Array = Array;
export const $ArrayBuffer = ArrayBuffer;
export const $Boolean = Boolean;
export const $Date = Date;
export const $Error = Error;
export const $Function = Function;
export const $Map = Map;
export const $Number = Number;
export const $Object = Object;
export const $Promise = Promise;
export const $RangeError = RangeError;
export const $RegExp = RegExp;
export const $Set = Set;
export const $String = String;
export const $SyntaxError = SyntaxError;
export const $TypeError = TypeError;
export const $Uint8Array = Uint8Array;
export const isView = ArrayBuffer.isView;

/** $global is the plugin's global object. */
export const $global = globalThis;

/** define puts a value on the global object as the platform does: not enumerable. */
export function define(name, value) {
  defineProperty($global, name, { value, writable: true, enumerable: false, configurable: true });
}

"""Functions of Kubernetes' CEL libraries, by the examples of their documentation."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.cel.expressions import ANY, Compiler, EvaluationError, ExpressionError

COMPILER = Compiler({"x": "dyn"})


def value(expression: str, x: Any = None) -> Any:
    return COMPILER.compile(expression, ANY).evaluate({"x": x})


def failure(expression: str, x: Any = None) -> str:
    with pytest.raises(EvaluationError) as caught:
        value(expression, x)
    return str(caught.value)


def complaint(expression: str) -> str:
    with pytest.raises(ExpressionError) as caught:
        COMPILER.compile(expression, ANY)
    return str(caught.value)


TRUE = [
    # lists
    "[1, 2, 3].isSorted()",
    "['a', 'b', 'b', 'c'].isSorted()",
    "![2.0, 1.0].isSorted()",
    "[1].isSorted()",
    "[].isSorted()",
    "[1, 3].sum() == 4",
    "[1.0, 3.0].sum() == 4.0",
    "[duration('1m'), duration('1s')].sum() == duration('1m1s')",
    "[1u, 2u].sum() == 3u",
    "[].sum() == 0",
    "[1, 3].min() == 1",
    "[1, 3].max() == 3",
    "['b', 'a'].min() == 'a'",
    "[timestamp('2021-01-01T00:00:00Z'), timestamp('2020-01-01T00:00:00Z')].max() == timestamp('2021-01-01T00:00:00Z')",
    "[false, true].max()",
    "[1, 2, 2, 3].indexOf(2) == 1",
    "['a', 'b', 'b', 'c'].lastIndexOf('b') == 2",
    "[1.0].indexOf(1.1) == -1",
    "[].indexOf('string') == -1",
    "'abc'.indexOf('c') == 2",
    "'abcb'.lastIndexOf('b') == 3",
    "[1, 2, 3].slice(0, 2) == [1, 2]",
    "[3, 1, 2].sort() == [1, 2, 3]",
    "[1, 1, 2].distinct() == [1, 2]",
    "[[1], [2, 3]].flatten() == [1, 2, 3]",
    "lists.range(3) == [0, 1, 2]",
    # sets
    "sets.contains([1, 2, 3], [2])",
    "sets.equivalent([1, 2], [2, 1, 1])",
    "sets.intersects([1], [1, 2])",
    # strings
    "'hello'.charAt(4) == 'o'",
    "'TacoCat'.lowerAscii() == 'tacocat'",
    "'tacoCat'.upperAscii() == 'TACOCAT'",
    "'hello hello'.replace('he', 'we', 1) == 'wello hello'",
    "'a b c'.split(' ') == ['a', 'b', 'c']",
    "'tacocat'.substring(0, 4) == 'taco'",
    "'  trim '.trim() == 'trim'",
    "['a', 'b'].join('-') == 'a-b'",
    "'%s is %d'.format(['a', 1]) == 'a is 1'",
    r"""strings.quote('a "b"') == '"a \\"b\\""'""",
    # optionals and comprehensions with two variables
    "optional.of(1).hasValue()",
    "!optional.none().hasValue()",
    "optional.of(1).optMap(y, y + 1).value() == 2",
    "{'a': 1}.?b.orValue(3) == 3",
    "[1, 2].all(i, v, v == i + 1)",
    "{'a': 1}.exists(k, v, k == 'a' && v == 1)",
    "[1, 2].transformList(i, v, v * 2) == [2, 4]",
    "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
    "['a', 'b'].transformMapEntry(i, v, {v: i}) == {'a': 0, 'b': 1}",
    "{'a': 'x'}.transformMap(k, v, timestamp('2020-01-01T00:00:00Z'))['a'].getFullYear() == 2020",
    # regular expressions
    "'abc 123'.find('[0-9]+') == '123'",
    "'abc'.find('[0-9]+') == ''",
    "'123 abc 456'.findAll('[0-9]+') == ['123', '456']",
    "'123 abc 456'.findAll('[0-9]+', 1) == ['123']",
    "'123 abc 456'.findAll('[0-9]+', 0) == []",
    "'abc'.matches('^[a-z]+$')",
    # URLs
    "url('/path').getScheme() == ''",
    "url('https://example.com/').getScheme() == 'https'",
    "url('https://example.com:80/').getHost() == 'example.com:80'",
    "url('https://[::1]:80/').getHost() == '[::1]:80'",
    "url('https://[::1]/').getHost() == '[::1]'",
    "url('/path').getHost() == ''",
    "url('https://example.com:80/').getHostname() == 'example.com'",
    "url('https://127.0.0.1:80/').getHostname() == '127.0.0.1'",
    "url('https://[::1]:80/').getHostname() == '::1'",
    "url('https://[::1]:80/').getPort() == '80'",
    "url('https://[::1]/').getPort() == ''",
    "url('https://example.com:80/').getPort() == '80'",
    "url('/path').getPort() == ''",
    "url('https://example.com/path').getEscapedPath() == '/path'",
    "url('https://example.com/path with spaces/').getEscapedPath() == '/path%20with%20spaces/'",
    "url('https://example.com').getEscapedPath() == ''",
    "url('https://example.com/path?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']}",
    "url('https://example.com/path?key with spaces=value with spaces').getQuery()"
    " == {'key with spaces': ['value with spaces']}",
    "url('https://example.com/path?').getQuery() == {}",
    "url('https://user:pw@example.com/#part').getHost() == 'example.com'",
    "isURL('https://user:pass@example.com:80/path?query=val#fragment')",
    "isURL('/absolute-path')",
    "!isURL('https://a:b:c/')",
    "!isURL('../relative-path')",
    # quantities
    "isQuantity('1.3G')",
    "isQuantity('1000K') == false",
    "quantity('50000000G').isInteger()",
    "quantity('9999999999999999999999999999999999999G').isInteger() == false",
    "quantity('50k').asInteger() == 50000",
    "quantity('50.703k').asApproximateFloat() == 50703.0",
    "sign(quantity('-3')) == -1",
    "quantity('50k').add(quantity('20k')) == quantity('70k')",
    "quantity('50k').add(20) == quantity('50020')",
    "quantity('50k').sub(20000) == quantity('30k')",
    "quantity('50k').add(20).sub(quantity('100k')).sub(-50000) == quantity('20')",
    "quantity('200M').compareTo(quantity('0.2G')) == 0",
    "quantity('50M').compareTo(quantity('50Mi')) == -1",
    "quantity('150Mi').isGreaterThan(quantity('100Mi'))",
    "quantity('50M').isLessThan(quantity('100M'))",
    "quantity('1') != quantity('2')",
    # addresses
    "isIP('127.0.0.1') && isIP('::1') && !isIP('127.0.0.256') && !isIP(':::1') && !isIP('01.2.3.4')",
    "ip.isCanonical('127.0.0.1')",
    "ip.isCanonical('2001:db8::abcd')",
    "!ip.isCanonical('2001:DB8::ABCD')",
    "!ip.isCanonical('2001:db8::0:0:0:abcd')",
    "ip('127.0.0.1').family() == 4 && ip('::1').family() == 6",
    "ip('0.0.0.0').isUnspecified() && !ip('::1').isUnspecified()",
    "ip('127.0.0.1').isLoopback() && ip('::1').isLoopback() && !ip('192.168.0.1').isLoopback()",
    "ip('224.0.0.1').isLinkLocalMulticast() && !ip('224.0.1.1').isLinkLocalMulticast()",
    "ip('ff02::1').isLinkLocalMulticast() && !ip('fd00::1').isLinkLocalMulticast()",
    "ip('169.254.169.254').isLinkLocalUnicast() && ip('fe80::1').isLinkLocalUnicast()",
    "ip('192.168.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast()",
    "ip('2001:db8::abcd').isGlobalUnicast() && !ip('ff00::1').isGlobalUnicast()",
    "ip('::1') == ip('0:0::1') && ip('::1') != ip('::2')",
    "string(ip('2001:DB8::ABCD')) == '2001:db8::abcd'",
    # networks
    "isCIDR('192.168.0.0/16') && isCIDR('::1/128') && !isCIDR('192.168.0.0/33') && !isCIDR('192.168.0.0')",
    "cidr('192.168.0.0/24').containsIP(ip('192.168.0.1'))",
    "!cidr('192.168.0.0/24').containsIP('192.168.1.1')",
    "cidr('192.168.0.0/16').containsCIDR(cidr('192.168.10.0/24'))",
    "!cidr('192.168.1.0/24').containsCIDR('192.168.2.0/24')",
    "cidr('192.168.0.1/24').ip() == ip('192.168.0.1')",
    "cidr('192.168.0.0/24') == cidr('192.168.0.0/24').masked()",
    "cidr('192.168.0.1/24') != cidr('192.168.0.1/24').masked()",
    "cidr('192.168.0.0/16').prefixLength() == 16",
    "string(cidr('192.168.0.0/16')) == '192.168.0.0/16'",
    # formats
    "!format.dns1123Label().validate('my-label').hasValue()",
    "format.dns1123Label().validate('My_Label').hasValue()",
    "format.dns1123Label().validate('My_Label').value().size() == 1",
    "format.named('uuid').hasValue() && !format.named('nothing').hasValue()",
    "!format.named('uuid').value().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()",
    "format.uuid().validate('123').value() == ['does not match the UUID format']",
    "!format.date().validate('2021-01-01').hasValue() && format.date().validate('2021-13-01').hasValue()",
    "!format.datetime().validate('2021-01-01T00:00:00Z').hasValue()",
    "format.datetime().validate('2021-01-01').value() == ['invalid datetime']",
    "!format.byte().validate('aGVsbG8=').hasValue() && format.byte().validate('a').hasValue()",
    "!format.uri().validate('http://example.com').hasValue()",
    "!format.dns1123LabelPrefix().validate('my-label-prefix-').hasValue()",
    "!format.qualifiedName().validate('apiextensions.k8s.io/v1beta1').hasValue()",
    # versions
    "isSemver('1.0.0') && !isSemver('v1.0') && isSemver('v1.0', true) && !isSemver('hello')",
    "semver('1.2.3').isLessThan(semver('1.10.0'))",
    "semver('1.0.0').isGreaterThan(semver('1.0.0-rc.1'))",
    "semver('1.0.0-rc.2').compareTo(semver('1.0.0-rc.10')) == -1",
    "semver('1.0.0+a') == semver('1.0.0+b')",
    "semver('v01.01', true) == semver('1.1.0')",
    "semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == 3",
    # patches
    "jsonpatch.escapeKey('k8s.io/a~b') == 'k8s.io~1a~0b'",
    # numbers of different types compare by value
    "dyn(1) == 1.0 && 1 < 1.5 && 2u > 1",
]


@pytest.mark.parametrize("expression", TRUE)
def test_the_expression_is_true(expression):
    assert value(expression) is True


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("[].min()", "min called on empty list"),
        ("ip('10.0.0.256')", 'IP Address "10.0.0.256" parse error during conversion from string:'
            ' ParseAddr("10.0.0.256"): IPv4 field has value >255'),
        ("ip('fe80::1%eth0')", 'IP address "fe80::1%eth0" with zone value is not allowed'),
        ("ip('::ffff:1.2.3.4')", 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'),
        ("cidr('1.2.3.4')", "network address parse error during conversion from string: network address parse error"
            " during conversion from string: netip.ParsePrefix(\"1.2.3.4\"): no '/'"),
        ("url('../x')", 'URL parse error during conversion from string: parse "../x": invalid URI for request'),
        ("quantity('lots')", "quantities must match the regular expression"
            " '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ("quantity('1.5').asInteger()", "cannot convert value to integer"),
        ("semver('1.0')", "No Major.Minor.Patch elements found"),
        ("'a'.find(x)", "Illegal regex: error parsing regexp: missing closing ]: `[`"),
        ("'a'.matches(x)", "error parsing regexp: missing closing ]: `[`"),
        ("[9223372036854775807, 1].sum()", "integer overflow"),
        ("{'a': 1}['b']", "no such key: b"),
        ("[1][3]", "index out of bounds: 3"),
        ("1 / 0", "division by zero"),
        ("1 % 0", "modulus by zero"),
        ("9223372036854775807 + 1", "integer overflow"),
        ("int('a')", "type conversion error from 'string' to 'int'"),
        ("optional.none().value()", "optional.none() dereference"),
        ("dyn(1) + dyn('a')", "no such overload"),
        ("x.a.b", "no such overload"),
        ("dyn(quantity('1')).isLessThan(dyn(semver('1.0.0')))", "no such overload"),
        ("[dyn('a')].sum()", "no such overload"),
    ],
)  # fmt: skip
def test_the_expression_fails_with_the_text_of_cel_go(expression, text):
    assert failure(expression, "[" if "'a'." in expression else {"a": 1}) == text


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("[1, 'a']", "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, 'a']\n | ....^"),
        ("duration('x')", "ERROR: <input>:1:10: invalid duration argument\n | duration('x')\n | .........^"),
        ("timestamp('x')", "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp('x')\n | ..........^"),
        ("'a'.matches('[')", "ERROR: <input>:1:13: invalid matches argument\n | 'a'.matches('[')\n | ............^"),
        ("[1].indexOf('a')", "ERROR: <input>:1:12: found no matching overload for 'indexOf' applied to"
            " 'list(int).(string)'\n | [1].indexOf('a')\n | ...........^"),
        ("['a'].sum()", "ERROR: <input>:1:10: found no matching overload for 'sum' applied to 'list(string).()'\n"
            " | ['a'].sum()\n | .........^"),
        ("a.b.c == 1", "ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a.b.c == 1\n | ^"),
        ("cel.bind(y, 1, y)", None),
        ("[x, 1]", "ERROR: <input>:1:5: expected type 'dyn' but found 'int'\n | [x, 1]\n | ....^"),
        ("'a'.size", "ERROR: <input>:1:4: type 'string' does not support field selection\n | 'a'.size\n | ...^"),
    ],
)  # fmt: skip
def test_the_expression_is_refused_with_the_text_of_cel_go(expression, text):
    found = complaint(expression)
    if text is not None:
        assert found == f"compilation failed: {text}"

"""A name of one's own, failover between regions, and a firewall: each by choice, each for the stage that streams."""

from tests.support.stack import Stack

API = "${ApiId}.execute-api.${AWS::Region}.${AWS::URLSuffix}"


def test_each_part_is_there_only_where_it_is_asked_for(edge: Stack) -> None:
    conditions = {name: resource["Condition"] for name, resource in edge.template["Resources"].items()}
    assert conditions == {
        "Domain": "HasDomain",
        "Mapping": "HasDomain",
        "Health": "HasRecord",
        "Record": "HasRecord",
        "Firewall": "HasWebAcl",
    }


def test_the_stack_has_it_where_one_of_them_is(source: Stack) -> None:
    edge = source.template["Resources"]["Edge"]
    assert edge["Condition"] == "HasEdge"
    has_domain = {"Fn::Not": [{"Fn::Equals": [{"Ref": "DomainName"}, ""]}]}
    has_acl = {"Fn::Not": [{"Fn::Equals": [{"Ref": "WebAclArn"}, ""]}]}
    # A zone without a name is refused by a rule, so a zone alone need not be looked for.
    assert source.template["Conditions"]["HasEdge"] == {"Fn::Or": [has_domain, has_acl]}
    assert source.template["Conditions"]["HasDomain"] == has_domain
    assert {"ZoneHasDomain", "DomainHasCertificate"} <= source.template["Rules"].keys()


def test_the_name_leads_to_the_stage_in_this_region_with_todays_encryption(edge: Stack, stack: Stack) -> None:
    domain = edge.only("AWS::ApiGateway::DomainName")["Properties"]
    assert domain["EndpointConfiguration"] == {"Types": ["REGIONAL"]}
    assert domain["SecurityPolicy"] == "TLS_1_2"
    mapping = edge.only("AWS::ApiGateway::BasePathMapping")["Properties"]
    assert "BasePath" not in mapping
    assert (mapping["RestApiId"], mapping["Stage"]) == ({"Ref": "ApiId"}, {"Ref": "StageName"})
    given = stack.template["Resources"]["Edge"]["Properties"]["Parameters"]
    # By reference, so that the stage is there before a name leads to it.
    assert given["StageName"]["Ref"] in stack.of_type("AWS::ApiGateway::Stage")


def test_callers_go_to_the_nearest_region_that_is_well(edge: Stack) -> None:
    record = edge.only("AWS::Route53::RecordSet")["Properties"]
    assert record["Region"] == record["SetIdentifier"] == {"Ref": "AWS::Region"}
    assert record["HealthCheckId"] == {"Ref": "Health"}
    target = record["AliasTarget"]
    assert target["EvaluateTargetHealth"] is True
    assert target["DNSName"] == {"Fn::GetAtt": ["Domain", "RegionalDomainName"]}


def test_health_is_asked_of_this_region_alone_with_its_store(edge: Stack) -> None:
    check = edge.only("AWS::Route53::HealthCheck")["Properties"]["HealthCheckConfig"]
    assert check["FullyQualifiedDomainName"] == {"Fn::Sub": API}
    assert check["ResourcePath"] == {"Fn::Sub": "/${StageName}/readyz"}
    assert (check["Type"], check["EnableSNI"]) == ("HTTPS", True)
    # Three is the fewest that Route 53 takes; every check is a request that is paid for.
    assert (len(check["Regions"]), check["RequestInterval"]) == (3, 30)


def test_the_firewall_stands_before_the_stage(edge: Stack) -> None:
    association = edge.only("AWS::WAFv2::WebACLAssociation")["Properties"]
    assert association["ResourceArn"]["Fn::Sub"].endswith("::/restapis/${ApiId}/stages/${StageName}")
    assert association["WebACLArn"] == {"Ref": "WebAclArn"}
